import type { Clock } from './clock.ts';

/** What a call may change for itself. */
export type RequestOptions = {
  /** Ends the call. A job that was created goes on. */
  signal?: AbortSignal | undefined;
  /** Limit of one attempt. Default: 60 s. Of an upload, at least an hour unless the call itself says less. */
  timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated. Default: 2 */
  maxRetries?: number | undefined;
  /** Of a POST. Default: a fresh one for each call, the same for its repetitions. */
  idempotencyKey?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
};

/** One attempt, after its end. */
export type RequestReport = {
  method: string;
  path: string;
  /** From 1. */
  attempt: number;
  /** Null when no answer came. */
  status: number | null;
  requestId: string | null;
  /** Of the answer, such as RateLimit-Remaining; null when none came. */
  headers: Headers | null;
  /** Up to the headers of the answer. */
  durationMs: number;
};

/** Options of a client that do not depend on whose credential it has. */
export type ClientOptions = Omit<RequestOptions, 'idempotencyKey' | 'headers'> & {
  /** Of all calls. A function is called before each attempt. */
  headers?: RequestOptions['headers'] | (() => RequestOptions['headers']);
  /** Default: VERBATIM_URL, or http://127.0.0.1:8080 */
  baseUrl?: string | undefined;
  fetch?: typeof fetch | undefined;
  /** Called after each attempt. */
  onRequest?: ((report: RequestReport) => void) | undefined;
  /** The key of a client in a browser can be read by its user: say that this is meant. */
  allowBrowser?: boolean | undefined;
  /** For tests. */
  clock?: Clock | undefined;
};

/** A text, or a function that returns it before each attempt; undefined: the attempt carries none. */
export type Credential = string | (() => string | undefined | Promise<string | undefined>);

type Environment = { process?: { env?: Record<string, string | undefined> }; document?: unknown };
const { process, document } = globalThis as Environment;

export const isBrowser = document !== undefined;

/** An environment variable; undefined where there are none. */
export function readVariable(name: string): string | undefined {
  return process?.env?.[name] || undefined;
}
