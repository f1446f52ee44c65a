// Codes of c-ares. The name or its record does not exist, or the server does not answer such questions.
const ANSWERS = new Set(['ENOTFOUND', 'ENODATA', 'EREFUSED', 'ENOTIMP', 'EFORMERR']);

/**
 * Whether a lookup that failed with this error was answered by a name server. A time-out, a refused connection and
 * SERVFAIL are no answers: the server, or the one behind it, could not be reached.
 */
export function isNameServerAnswer(error: unknown): boolean {
  return ANSWERS.has(String((error as { code?: unknown } | null)?.code));
}
