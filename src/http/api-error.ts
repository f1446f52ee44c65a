/** Every error a client can meet: the stable word to program against, and the status that always goes with it. */
export const ERROR_STATUS = {
  invalid_request: 400,
  forbidden_url: 400,
  unauthenticated: 401,
  insufficient_balance: 402,
  plan_limit: 403,
  missing_scope: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  too_large: 413,
  unsupported_media_type: 415,
  unprocessable_audio: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorType = keyof typeof ERROR_STATUS;

/** When each error is answered. `docs/errors.md` is made from this table. */
export const ERROR_MEANING: Readonly<Record<ErrorType, string>> = {
  invalid_request:
    'a field, query parameter, header, cursor or JSON text is malformed, of the wrong type, unknown, or out of range',
  forbidden_url: 'a webhook may not point there; the message names the rule',
  unauthenticated: 'no key, an unknown, revoked or expired key, or two different keys',
  insufficient_balance:
    'the balance is used up, or the audio costs more than it holds; then needed_credits and available_credits say how much',
  plan_limit: "the account's plan does not allow it: another webhook, or plan=pro on a lite account",
  missing_scope: 'the API key may not do this; the message and required_scope name the scope that it lacks',
  not_found: 'unknown path, unknown id, or an id of another account',
  method_not_allowed: 'known path, other method; Allow names the methods that there are',
  conflict: 'the state does not allow it',
  too_large: 'a body, a file or metadata is over its limit',
  unsupported_media_type: 'not JSON where JSON is asked for, not multipart where a file is',
  unprocessable_audio:
    'the bytes are not audio that can be decoded, hold no audio stream, or run longer than the limit',
  rate_limited:
    'more requests or more uploads at once than the limit; retry_after and Retry-After say when to come back',
  internal: 'our fault; the request id finds it in the log',
  unavailable:
    'shutting down, the database is away, too little disk is free, or the job queue is full; Retry-After says when to come back',
};

/**
 * A body that did not arrive in time: answered 408, with the type invalid_request. The message is shown to the caller.
 */
export class BodyTimeoutError extends Error {}

export type ApiErrorOptions = {
  /** The request field at fault; absent when no single field is. */
  param?: string;
  /** Fields beside `error` in the body, such as `retry_after` or `job_id`. */
  extra?: Record<string, unknown>;
  headers?: Record<string, string>;
  cause?: unknown;
};

/**
 * A mistake the caller can mend, or a state it must wait out. The message is shown to the caller as it stands:
 * a sentence that says what to do, with no SQL, path or secret in it.
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
