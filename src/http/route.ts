import type { Readable } from 'node:stream';
import type { Sql } from '../db/database.ts';
import type { Scope } from '../rules/accounts/scopes.ts';
import type { ErrorType } from './api-error.ts';
import type { Static, TSchema } from './schema.ts';

/** The caller, as its key proved it. */
export type Account = {
  id: string;
  /** 0 to 63, see rules/shard.ts: every statement on a hot table names it. */
  shard: number;
  name: string;
  plan: 'lite' | 'pro';
  unlimited: boolean;
};

/** Who calls with an API key. */
export type Caller = {
  account: Account;
  key: {
    id: string;
    /** Empty: all. */
    scopes: readonly Scope[];
    expiresAt: Date | null;
  };
};

/** Who asks for a change, and from where. */
export type Actor = {
  /** Null: the operator. */
  key: Caller['key'] | null;
  /** The peer of the connection. */
  address: string;
  requestId: string;
};

/** Which limit a request counts against (contract section 8). */
export type Bucket = 'transcribe' | 'balance' | 'jobs' | 'resend' | 'default';

/** What a request is to its Idempotency-Key, once its body is known. */
export type Identified =
  | { kind: 'first' }
  /** Answered before: give this. */
  | { kind: 'replay'; answer: Answer }
  /** Made this job before, and died before its answer. */
  | { kind: 'resume'; jobId: string };

/** How a handler makes sure that its work is done once for each Idempotency-Key; without a key all of it does nothing. */
export type Once = {
  /** Whether an earlier request with the key left an answer or a job: whoever sends it again is owed that. */
  isRepeat: boolean;
  /**
   * Tells what came in. Handlers of uploads call it, when the body was read; for all others it is done.
   * @throws ApiError  409 when the key was used for another body
   */
  identify(fingerprint: string): Identified;
  /**
   * Notes the job in the transaction that inserts it: a retry after a crash is answered with it.
   * @throws ApiError  409 when the key was lost to another request
   */
  bind(tx: Sql, jobId: string): Promise<void>;
  /**
   * Keeps the answer in the transaction that did the work, both or neither. Returns the answer to give.
   * @throws ApiError  409 when the key was lost to another request
   */
  keep<const Kept extends Answer>(tx: Sql, answer: Kept): Promise<Kept>;
};

/** A request without an Idempotency-Key. */
export const UNKEYED: Once = {
  isRepeat: false,
  identify: () => ({ kind: 'first' }),
  bind: async () => undefined,
  keep: async (_tx, answer) => answer,
};

/** A body that its handler reads by itself. */
export type IncomingUpload = {
  /** The unread body; a caller that asked first (Expect: 100-continue) is told to send it. */
  open(): Readable;
  contentType: string;
  /** What the caller declared; null when it did not. */
  contentLength: number | null;
};

/** What a handler is given: checked values, no request object. */
export type Call<Params, Query, Body> = {
  account: Account;
  params: Params;
  query: Query;
  body: Body;
  actor: Actor;
  /** Aborts when the request is over: the caller hung up, or has its whole answer. It may have aborted already. */
  signal: AbortSignal;
  /** Only on routes with `upload: true`. */
  upload: IncomingUpload;
  once: Once;
  /** Adds a field to the request's log line: ids, counts, outcomes. Never a key, a secret, a transcript or metadata. */
  note(fields: Record<string, string | number | boolean | null>): void;
};

export type Answer = {
  status: number;
  /** Written with writeJson; a string goes out as it stands and needs `contentType`; absent for 204. */
  body?: unknown;
  contentType?: string;
  /** Sent piece by piece as it comes, in place of `body`; ended early when the caller hangs up. Needs `contentType`. */
  stream?: Readable;
  headers?: Record<string, string>;
};

/** An answer in other media types than JSON alone: a schema for each. */
export type MediaSchema = { media: Record<string, TSchema> };

/** What a status answers: a JSON value, other media, or nothing (null). */
export type AnswerSchema = TSchema | MediaSchema | null;

export type RouteSchema = {
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** Answers by status. They type what the handler returns, and the tests hold every answer against them. */
  answers: Record<number, AnswerSchema>;
};

/** Whom a route serves. */
export type Access =
  /** An account's key with this scope; `any`: whatever its scopes. */
  | { auth: 'key'; scope: Scope | 'any' }
  /** admin: the operator's token; none: anybody. */
  | { auth: 'admin' | 'none'; scope?: never };

/** One row of the table of endpoints: what validates it is what documents it. */
export type Route = Access & {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** With auth `key` only; `default` unless named. */
  bucket?: Bucket;
  upload?: boolean;
  summary: string;
  /** More than the summary says: Markdown for the API reference. */
  description?: string;
  tag: string;
  schema: RouteSchema;
  /** Errors beside those that every route of its kind has: see `openapi.ts`. */
  errors?: readonly ErrorType[];
  /** Requests that its successful answer leads to: by operation id, their parameters as OpenAPI runtime expressions. */
  links?: Record<string, Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: the table holds routes of every shape; defineRoute checks each one.
  handle(call: Call<any, any, any>): Promise<Answer>;
};

type StaticOr<Schema, Else> = Schema extends TSchema ? Static<Schema> : Else;

/** The answers that a route's schema allows: the status decides the type of the body. A route that describes none may answer anything. */
export type AnswerOf<Answers> = [keyof Answers] extends [never] ? Answer : DescribedAnswer<Answers>;

type DescribedAnswer<Answers> = {
  [Status in keyof Answers & number]: Answers[Status] extends null
    ? { status: Status; body?: never; headers?: Record<string, string> }
    : Answers[Status] extends { media: unknown }
      ? Answer & { status: Status }
      : {
          status: Status;
          body: Answers[Status] extends TSchema ? Static<Answers[Status]> : never;
          headers?: Record<string, string>;
        };
}[keyof Answers & number];

/** A route whose handler sees the types that its schemas describe, and may answer nothing else. */
export function defineRoute<const Schema extends RouteSchema, const Result extends AnswerOf<Schema['answers']>>(
  route: Access &
    Omit<Route, 'schema' | 'handle' | keyof Access> & {
      schema: Schema;
      handle(
        call: Call<
          StaticOr<Schema['params'], unknown>,
          StaticOr<Schema['query'], unknown>,
          StaticOr<Schema['body'], undefined>
        >,
      ): Promise<Result>;
    },
): Route {
  return route as Route;
}
