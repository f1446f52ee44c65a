/** Decision after a database failure at start: try again, or end with advice for the operator. */
type StartDecision = { kind: 'retry' } | { kind: 'end'; advice: string };

const DEFAULT_ADVICE = 'The log of the server may say more.';
const CORRECT_NAMES = 'Correct the database, the user or the password in DATABASE_URL.';
const SERVER_TAKES_TLS_ONLY =
  'The server takes connections with TLS only: add sslmode=verify-full to the parameters of DATABASE_URL.';

// PgBouncer uses the code for a protocol violation for nearly all errors: only the text shows which ones are permanent.
const POOLER_REFUSALS: [RegExp, string][] = [
  [
    /unsupported startup parameter/i,
    'The pooler refuses a parameter of the URL: remove the parameters after "?" that it does not know.',
  ],
  [
    /statement pooling mode/i,
    'The pooler pools by statement. Set its pool_mode to session, or to transaction and name PostgreSQL itself in DATABASE_DIRECT_URL.',
  ],
  [/SSL required/i, SERVER_TAKES_TLS_ONLY],
  [/no such (database|user)|database ".*" is disabled|authentication failed/i, CORRECT_NAMES],
];

// The client gives these no code.
const NO_TLS = /does not support SSL connections/i;
// The same code as for other lines of pg_hba.conf.
const TLS_REFUSALS: [RegExp, string][] = [
  [/no encryption/i, SERVER_TAKES_TLS_ONLY],
  [/client certificate/i, 'Name a certificate of this client: sslcert=<file>&sslkey=<file> in DATABASE_URL.'],
];

/** Whether no connection with TLS came about; the code is that of OpenSSL or of Node. */
export function isTlsFailure(code: string): boolean {
  return /^(ERR_TLS_|ERR_SSL_|ERR_OSSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH_)/.test(
    code,
  );
}

/**
 * Whether a failure to connect or to migrate is transient: the server starts, stops, is not reachable yet, or has too
 * many clients. A wrong name, password, privilege, certificate or version is permanent.
 * @param code  SQLSTATE, or the code of a system error; null for an error of the client's own timers
 */
export function decideStart({ code, message }: { code: string | null; message: string }): StartDecision {
  if (NO_TLS.test(message))
    return { kind: 'end', advice: 'Let the server take TLS (ssl = on), or remove sslmode from DATABASE_URL.' };
  const ofTls = TLS_REFUSALS.find(([pattern]) => code === '28000' && pattern.test(message));
  if (ofTls) return { kind: 'end', advice: ofTls[1] };
  const refusal = POOLER_REFUSALS.find(([pattern]) => code?.startsWith('08') && pattern.test(message));
  if (refusal) return { kind: 'end', advice: refusal[1] };
  // Class 08: connection; 53: out of resources; 55P03, 40: locks; 57P: operator intervention; 57014: a timeout.
  const isPassing =
    code === null ||
    /^(08|53|40|55P03|57P|57014)/.test(code) ||
    /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code);
  return isPassing ? { kind: 'retry' } : { kind: 'end', advice: adviceOn(code ?? '') };
}

function adviceOn(code: string): string {
  const advice = ADVICE[code];
  if (advice) return advice;
  if (isTlsFailure(code)) return 'Compare sslmode and the files that DATABASE_URL names with the TLS of the server.';
  // A code of the system, such as EACCES for a socket.
  return code.startsWith('E') ? 'Correct the host or the port in DATABASE_URL.' : DEFAULT_ADVICE;
}

const NAME_THE_CA =
  'Name the PEM file of the CA that signed the certificate of the server: sslmode=verify-full&sslrootcert=<file> in DATABASE_URL.';

const ADVICE: Record<string, string> = {
  '25006': 'DATABASE_URL names a standby: name the primary.',
  '28000': 'Correct the user in DATABASE_URL, or allow this host in pg_hba.conf.',
  '28P01': 'Correct the password in DATABASE_URL.',
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  SELF_SIGNED_CERT_IN_CHAIN: NAME_THE_CA,
  DEPTH_ZERO_SELF_SIGNED_CERT: NAME_THE_CA,
  UNABLE_TO_GET_ISSUER_CERT: NAME_THE_CA,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: NAME_THE_CA,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: NAME_THE_CA,
  CERT_SIGNATURE_FAILURE: NAME_THE_CA,
  CERT_HAS_EXPIRED: 'Renew the certificate of the server, and correct the clock of this machine if it is wrong.',
  CERT_NOT_YET_VALID: 'Correct the clock of this machine, or the certificate of the server.',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'Name the host in DATABASE_URL as the certificate names it; sslmode=verify-ca with sslrootcert=<file> does not compare the name.',
  ERR_OSSL_PEM_NO_START_LINE: 'Correct the file that DATABASE_URL names as sslcert or sslkey: it is no PEM file.',
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'The files of sslcert and sslkey in DATABASE_URL do not belong together.',
  '42501': 'Grant the user of DATABASE_URL the right to create tables in the schema public.',
};
