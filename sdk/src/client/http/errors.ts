import type { ErrorBody } from '../../api.ts';
import type { ErrorType } from '../../wire.ts';
import type { Job } from '../job.ts';
import { isRetryableStatus, readRetryAfter } from './retry.ts';

/** Every error that the client throws, except for mistakes in the arguments (TypeError). */
export class VerbatimError extends Error {
  override name = 'VerbatimError';
  /** Whether the same call may succeed later. The client itself repeats such calls `maxRetries` times. */
  readonly isRetryable: boolean = false;
  /** How long the service asked to wait; null when it did not. */
  readonly retryAfterMs: number | null = null;
}

/** No answer came, or only a part of it: the name does not resolve, the connection was refused or cut. */
export class ConnectionError extends VerbatimError {
  override name = 'ConnectionError';
  override readonly isRetryable: boolean = true;
}

/** What took too long: `answer`, up to its headers; `body`, the rest of the answer; `wait`, the end of a job. */
export type TimeoutPhase = 'answer' | 'body' | 'wait';

/** The call took longer than its limit. */
export class TimeoutError extends VerbatimError {
  override name = 'TimeoutError';
  override readonly isRetryable: boolean;
  readonly phase: TimeoutPhase;
  /** The job that goes on, with phase `wait`. */
  readonly jobId: string | null;

  constructor(phase: TimeoutPhase, limitMs: number, jobId: string | null = null) {
    const what = { answer: 'The service did not answer', body: 'The answer did not end', wait: 'The job did not end' };
    super(`${what[phase]} within ${limitMs / 1000} s.`);
    this.isRetryable = phase !== 'wait';
    this.phase = phase;
    this.jobId = jobId;
  }
}

/**
 * An answer with a 2xx that is not what was asked for: it is cut, or it is a page of a proxy. The service may have done
 * what the request asks for; a repetition with the same Idempotency-Key does not do it twice.
 */
export class UnreadableAnswerError extends VerbatimError {
  override name = 'UnreadableAnswerError';
  override readonly isRetryable: boolean = true;
  /** The HTTP status. */
  readonly status: number;
  /** Names the request in the log of the service; null when a proxy answered. */
  readonly requestId: string | null;

  /** @param expected  what was asked for, such as `JSON` */
  constructor({ status, headers }: Pick<Response, 'status' | 'headers'>, expected: string, options?: ErrorOptions) {
    const described = [status, headers.get('content-type')].filter((part) => part !== null).join(', ');
    super(
      `The answer (${described}) is not ${expected}: a proxy may have changed it, or baseUrl is not the address of the service.`,
      options,
    );
    this.status = status;
    this.requestId = headers.get('x-request-id');
  }
}

/** The caller's signal ended the call; `cause` is the reason of the signal. A job that was created goes on. */
export class AbortedError extends VerbatimError {
  override name = 'AbortedError';

  constructor(reason: unknown) {
    super('The call was ended by its signal.', { cause: reason });
  }
}

/** The job ended without a transcript. */
export class JobFailedError extends VerbatimError {
  override name = 'JobFailedError';
  readonly job: Job;

  constructor(job: Job) {
    super(job.error ? `${job.id} failed: ${job.error.message}` : `${job.id} was ${job.status}.`);
    this.job = job;
  }
}

type Problem = { status: number; url: string; headers: Headers; body: Partial<ErrorBody> | null; nowMs: number };

/** An answer of the service that is not a 2xx. Each `type` has a class of its own. */
export class ApiError extends VerbatimError {
  override name = 'ApiError';
  override readonly isRetryable: boolean;
  override readonly retryAfterMs: number | null;
  /** The HTTP status. */
  readonly status: number;
  /** Stable; program against it. Null when the answer is not from the service, but from a proxy. */
  readonly type: ErrorType | null;
  /** The field at fault, when one is. */
  readonly param: string | null;
  /** The URL of the page that explains the error. */
  readonly docs: string | null;
  /** Names the request in the log of the service. */
  readonly requestId: string | null;
  /** The job, where the failed request made one. */
  readonly jobId: string | null;
  /** The answer, where it is JSON. */
  readonly body: Partial<ErrorBody> | null;

  constructor({ status, url, headers, body, nowMs }: Problem) {
    super(body?.error?.message ?? `The answer was ${status}, without an error of the service.`);
    this.status = status;
    this.type = body?.error?.type ?? null;
    this.param = body?.error?.param ?? null;
    this.docs = absolute(body?.error?.docs, url);
    this.requestId = body?.request_id ?? headers.get('x-request-id');
    this.jobId = body?.job_id ?? null;
    this.body = body;
    this.retryAfterMs = readRetryAfter(headers.get('retry-after'), nowMs);
    this.isRetryable = isRetryableStatus(status, this.retryAfterMs !== null);
  }
}

export class InvalidRequestError extends ApiError {
  override name = 'InvalidRequestError';
}
export class ForbiddenUrlError extends ApiError {
  override name = 'ForbiddenUrlError';
}
export class UnauthenticatedError extends ApiError {
  override name = 'UnauthenticatedError';
}
export class InsufficientBalanceError extends ApiError {
  override name = 'InsufficientBalanceError';
  /** Credits that the audio costs; null when they are not known. */
  get needed(): number | null {
    return this.body?.needed_credits ?? null;
  }
  /** Credits that can be spent. */
  get available(): number | null {
    return this.body?.available_credits ?? null;
  }
}
export class PlanLimitError extends ApiError {
  override name = 'PlanLimitError';
}
export class MissingScopeError extends ApiError {
  override name = 'MissingScopeError';
  /** What the key lacks. */
  get requiredScope(): string | null {
    return this.body?.required_scope ?? null;
  }
}
/** Only users with another role may do this: an API key has none. */
export class MissingRoleError extends ApiError {
  override name = 'MissingRoleError';
}
/** The operator of the service has suspended the account. */
export class SuspendedError extends ApiError {
  override name = 'SuspendedError';
}
export class NotFoundError extends ApiError {
  override name = 'NotFoundError';
}
export class MethodNotAllowedError extends ApiError {
  override name = 'MethodNotAllowedError';
}
export class ConflictError extends ApiError {
  override name = 'ConflictError';
}
export class TooLargeError extends ApiError {
  override name = 'TooLargeError';
}
export class UnsupportedMediaTypeError extends ApiError {
  override name = 'UnsupportedMediaTypeError';
}
export class RangeNotSatisfiableError extends ApiError {
  override name = 'RangeNotSatisfiableError';
}
export class UnprocessableAudioError extends ApiError {
  override name = 'UnprocessableAudioError';
}
export class AudioFetchFailedError extends ApiError {
  override name = 'AudioFetchFailedError';
  /** As in the error of the job. */
  get reason(): string | null {
    return this.body?.reason ?? null;
  }
  /** What the server of the audio answered. */
  get httpStatus(): number | null {
    return this.body?.http_status ?? null;
  }
}
export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
}
export class InternalError extends ApiError {
  override name = 'InternalError';
}
export class UnavailableError extends ApiError {
  override name = 'UnavailableError';
}

const CLASSES: Record<ErrorType, typeof ApiError> = {
  invalid_request: InvalidRequestError,
  forbidden_url: ForbiddenUrlError,
  unauthenticated: UnauthenticatedError,
  insufficient_balance: InsufficientBalanceError,
  plan_limit: PlanLimitError,
  missing_scope: MissingScopeError,
  missing_role: MissingRoleError,
  suspended: SuspendedError,
  not_found: NotFoundError,
  method_not_allowed: MethodNotAllowedError,
  conflict: ConflictError,
  too_large: TooLargeError,
  unsupported_media_type: UnsupportedMediaTypeError,
  range_not_satisfiable: RangeNotSatisfiableError,
  unprocessable_audio: UnprocessableAudioError,
  audio_fetch_failed: AudioFetchFailedError,
  rate_limited: RateLimitError,
  internal: InternalError,
  unavailable: UnavailableError,
};

/** The error of an answer, read from its body. */
export async function readApiError(answer: Response, nowMs: number): Promise<ApiError> {
  const body = parseObject(await answer.text());
  const type = body?.error?.type as ErrorType;
  const Class = Object.hasOwn(CLASSES, type ?? '') ? CLASSES[type] : ApiError;
  return new Class({ status: answer.status, url: answer.url, headers: answer.headers, body, nowMs });
}

/** The service gives a path of its own. @param url  of the answer; empty with some functions in place of `fetch` */
function absolute(docs: string | undefined, url: string): string | null {
  if (docs === undefined) return null;
  return URL.canParse(docs, url) ? new URL(docs, url).href : docs;
}

function parseObject(text: string): Partial<ErrorBody> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
