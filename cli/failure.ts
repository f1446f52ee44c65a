import type { Job } from '#sdk/api.ts';
import { AbortedError, ApiError, JobFailedError, UnreadableAnswerError, VerbatimError } from '#sdk/client/index.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { describeSystemError } from './terminal/system-error.ts';

type Failure = { message: string; exitCode: ExitCode };

const WHOSE_KEY =
  'Check that the key (VERBATIM_API_KEY, profile) or the token of operators (ADMIN_TOKEN, DATA_DIR) is of this service.';

/**
 * What to tell the user about an error, and the exit code. One line, without a stack: it is of no use to who calls a
 * command.
 */
export function describeFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted || error instanceof AbortedError) return { message: 'interrupted', exitCode: EXIT.interrupted };
  if (error instanceof ApiError) return describeApiError(error);
  if (error instanceof JobFailedError) return describeFailedJob(error.job);
  if (error instanceof UnreadableAnswerError) return { message: withRequestId(error), exitCode: EXIT.failed };
  if (error instanceof VerbatimError) {
    const hint = isRefused(error) ? ' Check that the service is running.' : '';
    return { message: `${error.message}${hint}`, exitCode: EXIT.failed };
  }
  const ofSystem = describeSystemError(error);
  if (ofSystem !== null) return { message: ofSystem, exitCode: EXIT.failed };
  const message = error instanceof Error && error.message !== '' ? error.message : String(error);
  return { message: message.split('\n')[0]!, exitCode: EXIT.failed };
}

/** What to tell the user about a job that has ended without a transcript, and the exit code. */
export function describeFailedJob({ id, status, error }: Pick<Job, 'id' | 'status' | 'error'>): Failure {
  const isUnpaid = error?.type === 'insufficient_balance';
  const message = `${id} ${status}: ${error?.message ?? 'it has no transcript.'}`;
  return { message, exitCode: isUnpaid ? EXIT.outOfCredits : EXIT.failed };
}

/** Whether nothing listens at the address: `fetch` gives the cause of its own error. */
function isRefused(error: Error): boolean {
  const { cause } = error.cause instanceof Error ? error.cause : {};
  return cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
}

function describeApiError(error: ApiError): Failure {
  const hint = error.status === 401 ? ` ${WHOSE_KEY}` : '';
  return { message: `${withRequestId(error)}${hint}`, exitCode: exitCodeOf(error) };
}

function withRequestId({ message, requestId }: ApiError | UnreadableAnswerError): string {
  return requestId === null ? message : `${message} (${requestId})`;
}

function exitCodeOf({ status, type }: ApiError): ExitCode {
  if (status === 401) return EXIT.notSignedIn;
  if (status === 402) return EXIT.outOfCredits;
  if (status === 404) return EXIT.notFound;
  if (status === 429) return EXIT.rateLimited;
  return type === 'invalid_request' || type === 'forbidden_url' ? EXIT.wrongUse : EXIT.failed;
}
