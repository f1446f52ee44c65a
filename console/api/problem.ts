import { ApiError, ConnectionError, TimeoutError, VerbatimError } from '#sdk/client/index.ts';

/** An error as the console shows it. */
export type ShownProblem = {
  /** The sentence of the API, or one about the connection. */
  message: string;
  /** Of the API; null where no answer of it came. */
  type: string | null;
  requestId: string | null;
  /** The field of the request that is wrong; null where the API names none. */
  param: string | null;
  /** Whether the service failed, and its operator should look. */
  isOfService: boolean;
  /** Whole seconds that the API asks to wait; null where it does not. */
  retryAfterSeconds: number | null;
};

/**
 * What is shown of anything that was thrown. Errors that are not of the SDK are mistakes of the console:
 * they are logged.
 */
export function problemOf(error: unknown): ShownProblem {
  const shown = { type: null, requestId: null, param: null, isOfService: false, retryAfterSeconds: null };
  if (error instanceof ApiError) {
    const { message, type, requestId, param, retryAfterMs } = error;
    const retryAfterSeconds = retryAfterMs === null ? null : Math.max(1, Math.ceil(retryAfterMs / 1_000));
    return { message, type, requestId, param: param ?? null, isOfService: error.status >= 500, retryAfterSeconds };
  }
  if (isUnreachable(error)) {
    return { ...shown, message: 'Cannot reach the service. Check that it is running, then try again.' };
  }
  if (error instanceof VerbatimError) return { ...shown, message: error.message };
  console.error(error);
  return { ...shown, message: 'Something went wrong in the console. Reload the page.' };
}

/** Whether no answer came: the service is down, or the network. */
export function isUnreachable(error: unknown): boolean {
  return error instanceof ConnectionError || error instanceof TimeoutError;
}

/** Whether the key or the operator's token is not valid any more. */
export function isSignedOut(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

/** Whether there is no such thing, or no more. */
export function isGone(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/** Whether the same request may succeed by itself a moment later; not for a 429, whose wait is shown. */
export function isWorthRetry(error: unknown): boolean {
  return error instanceof VerbatimError && error.isRetryable && !(error instanceof ApiError && error.status === 429);
}
