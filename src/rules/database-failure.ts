/** What a start makes of a database that failed: it tries again, or it ends with advice for the operator. */
type StartDecision = { kind: 'retry' } | { kind: 'end'; advice: string };

const DEFAULT_ADVICE = 'Correct DATABASE_URL.';

// PgBouncer answers nearly everything with the code for a protocol violation: only its text tells what can never work.
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
 * Whether a failure to connect or to migrate may pass by itself. It passes while a server starts, stops, is not there
 * yet, or has too many clients; it does not for a wrong name, password, right, certificate or version.
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
