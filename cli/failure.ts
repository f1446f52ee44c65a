import type { Job } from '#sdk/api.ts';
import { AbortedError, ApiError, ConnectionError, JobFailedError, TimeoutError } from '#sdk/client/index.ts';
import { EXIT, type ExitCode } from './exit.ts';

type Failure = { message: string; exitCode: ExitCode };

const WHOSE_KEY =
  'Check that the key (VERBATIM_API_KEY, profile) or the token of operators (ADMIN_TOKEN, DATA_DIR) is of this service.';

/**
 * What to tell the user about an error of the API client, and the exit code.
 * Other errors are described with their stack.
 */
export function describeFailure(error: unknown, signal: AbortSignal): Failure {
  if (signal.aborted || error instanceof AbortedError) return { message: 'interrupted', exitCode: EXIT.interrupted };
  if (error instanceof ApiError) return describeApiError(error);
  if (error instanceof JobFailedError) return describeFailedJob(error.job);
  if (error instanceof ConnectionError || error instanceof TimeoutError) {
    const hint = isRefused(error) ? ' Check that the service is running.' : '';
    return { message: `${error.message}${hint}`, exitCode: EXIT.failed };
  }
  return { message: error instanceof Error ? (error.stack ?? error.message) : String(error), exitCode: EXIT.failed };
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
  const about = error.requestId ? ` (${error.requestId})` : '';
  const hint = error.status === 401 ? ` ${WHOSE_KEY}` : '';
  return { message: `${error.message}${about}${hint}`, exitCode: exitCodeOf(error) };
}

function exitCodeOf({ status, type }: ApiError): ExitCode {
  if (status === 401) return EXIT.notSignedIn;
  if (status === 402) return EXIT.outOfCredits;
  if (status === 404) return EXIT.notFound;
  if (status === 429) return EXIT.rateLimited;
  return type === 'invalid_request' || type === 'forbidden_url' ? EXIT.wrongUse : EXIT.failed;
}
