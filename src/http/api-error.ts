/** All error types that clients can receive, each with its HTTP status. */
export const ERROR_STATUS = {
  invalid_request: 400,
  forbidden_url: 400,
  unauthenticated: 401,
  insufficient_balance: 402,
  plan_limit: 403,
  missing_scope: 403,
  missing_role: 403,
  suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  unprocessable_audio: 422,
  audio_fetch_failed: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorType = keyof typeof ERROR_STATUS;

/** When each error is answered. `docs/errors.md` and the page /docs/errors are made of this table. */
export const ERROR_MEANING: Readonly<Record<ErrorType, string>> = {
  invalid_request:
    'a field, query parameter, header, cursor or JSON text is malformed, of the wrong type, unknown, or out of range',
  forbidden_url: 'a webhook may not have this URL, or audio is not fetched from it; the message names the rule',
  unauthenticated: 'the request has no key, an unknown, revoked or expired key, or two different keys',
  insufficient_balance:
    'the balance is used up, or the audio costs more than the balance; needed_credits and available_credits give both amounts',
  plan_limit:
    "the account's plan does not allow the request: one more webhook, enabling one beyond it, or plan=pro on a lite account",
  missing_scope: 'the API key lacks a scope; the message and required_scope name it',
  missing_role: 'the user who is signed in lacks the role; the message names it',
  suspended: 'the operator of the service has suspended the account',
  not_found: 'the path or the id is unknown, or the id belongs to another account',
  method_not_allowed: 'the path does not support the method; Allow lists the methods that it supports',
  conflict:
    'the current state does not allow the request, or the Idempotency-Key is in use or was used for another request',
  too_large: 'a body, a file or a field exceeds its limit',
  unsupported_media_type:
    'the body is not JSON where JSON is expected, or not multipart/form-data where a file is expected',
  range_not_satisfiable: 'the Range begins behind the end of the file; Content-Range gives its size',
  unprocessable_audio: 'the file cannot be decoded, has no audio stream, or is longer than the limit',
  audio_fetch_failed:
    'the job of a synchronous request failed because its audio_url could not be fetched; reason and http_status say why',
  rate_limited:
    'a limit of requests, uploads, streams or stored keys is reached; retry_after and Retry-After give the seconds to wait',
  internal: 'a fault of the service; its log has an entry with the request id',
  unavailable:
    'the service is stopping, the database cannot be reached, too little disk is free, the job queue is full, or a document takes too long; Retry-After gives the seconds to wait',
};

/**
 * Where the service explains an error: a path of its own, for the address at which its clients reach it is theirs to
 * know.
 */
export function docsOf(type: ErrorType): string {
  return `/docs/errors#${type}`;
}

/**
 * A body that did not arrive in time: answered 408 with the type invalid_request. The message is sent to the client.
 */
export class BodyTimeoutError extends Error {}

type ApiErrorOptions = {
  /** The request field with the mistake; absent when there is no single one. */
  param?: string;
  /** Fields beside `error` in the body, such as `retry_after` or `job_id`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
};

/**
 * A mistake that the caller can correct, or a state that it must wait for. The message is shown to the caller
 * unchanged: a sentence that says what to do, with no SQL, path or secret in it.
 */
export class ApiError extends Error {
  readonly type: ErrorType;
  readonly status: number;
  readonly param: string | undefined;
  readonly extra: Record<string, unknown>;
  readonly headers: Record<string, string>;

  constructor(type: ErrorType, message: string, options: ApiErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.name = 'ApiError';
    this.type = type;
    this.status = ERROR_STATUS[type];
    this.param = options.param;
    this.extra = options.extra ?? {};
    this.headers = options.headers ?? {};
  }
}

/** 401: the request proves nobody. @param message  what to use instead */
export function unauthenticated(message: string): ApiError {
  return new ApiError('unauthenticated', message, { headers: { 'www-authenticate': 'Bearer' } });
}

/** 429: the seconds to wait are in `retry_after` and in Retry-After. */
export function rateLimited(message: string, seconds: number, headers: Record<string, string> = {}): ApiError {
  return new ApiError('rate_limited', message, {
    extra: { retry_after: seconds },
    headers: { ...headers, 'retry-after': String(seconds) },
  });
}

/** 503: the seconds to wait are in Retry-After. */
export function unavailable(message: string, seconds: number, more: Pick<ApiErrorOptions, 'extra' | 'cause'> = {}) {
  return new ApiError('unavailable', message, { ...more, headers: { 'retry-after': String(seconds) } });
}
