/** Decision after a database failure at start: try again, or end with advice for the operator. */
type StartDecision = { kind: 'retry' } | { kind: 'end'; advice: string };

const DEFAULT_ADVICE = 'Correct DATABASE_URL.';

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
  [/no such (database|user)|database ".*" is disabled|authentication failed|SSL required/i, DEFAULT_ADVICE],
];

/**
 * Whether a failure to connect or to migrate is transient: the server starts, stops, is not reachable yet, or has too
 * many clients. A wrong name, password, privilege, certificate or version is permanent.
 * @param code  SQLSTATE, or the code of a system error; null for an error of the client's own timers
 */
export function decideStart({ code, message }: { code: string | null; message: string }): StartDecision {
  const refusal = POOLER_REFUSALS.find(([pattern]) => code?.startsWith('08') && pattern.test(message));
  if (refusal) return { kind: 'end', advice: refusal[1] };
  // Class 08: connection; 53: out of resources; 55P03, 40: locks; 57P: operator intervention; 57014: a timeout.
  const isPassing =
    code === null ||
    /^(08|53|40|55P03|57P|57014)/.test(code) ||
    /^(ECONN|EPIPE|ENOENT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)/.test(code);
  return isPassing ? { kind: 'retry' } : { kind: 'end', advice: ADVICE[code ?? ''] ?? DEFAULT_ADVICE };
}

const ADVICE: Record<string, string> = {
  '25006': 'DATABASE_URL names a standby: name the primary.',
  '28000': 'Correct the user in DATABASE_URL, or allow this host in pg_hba.conf.',
  '28P01': 'Correct the password in DATABASE_URL.',
  '3D000': 'Create the database, or correct its name in DATABASE_URL.',
  '42501': 'Grant the user of DATABASE_URL the right to create tables in the schema public.',
};
