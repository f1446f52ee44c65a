import type { Readable } from 'node:stream';
import type { Account, Actor } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import type { Scope } from '../rules/accounts/scopes.ts';
import type { ErrorType } from './api-error.ts';
import type { Static, TSchema } from './schema.ts';

/** Which limit a request counts against (contract section 8). */
export type Bucket = 'transcribe' | 'balance' | 'jobs' | 'resend' | 'default';

/** What an earlier request with the same Idempotency-Key left behind, found by comparing the bodies. */
export type Identified =
  | { kind: 'first' }
  /** The earlier request was answered: send this answer again. */
  | { kind: 'replay'; answer: Answer }
  /** The earlier request created this job and ended before its answer was saved. */
  | { kind: 'resume'; jobId: string };

/** With it a handler executes its work once per Idempotency-Key. Without the header every method does nothing. */
export type IdempotencyHandle = {
  /** Whether an earlier request with the key left an answer or a job, which this request may only be given again. */
  isRepeat: boolean;
  /**
   * Compares the body with that of the earlier request. The handler of an upload calls it after reading the body; for all
   * other routes the server has called it before the handler runs.
   * @throws ApiError  409 when the key was used for another body
   */
  identify(fingerprint: string): Identified;
  /**
   * Stores the job's id with the key, in the transaction that inserts the job: a retry after a crash is answered with the job.
   * @throws ApiError  409 when another request has acquired the key
   */
  bindJob(tx: Sql, jobId: string): Promise<void>;
  /**
   * Saves the answer in the transaction that did the work: both are committed or neither. Returns the answer to send.
   * @throws ApiError  409 when another request has acquired the key
   */
  saveAnswer<const Saved extends Answer>(tx: Sql, answer: Saved): Promise<Saved>;
};

/** The handle of a request without an Idempotency-Key. */
export const NO_IDEMPOTENCY_KEY: IdempotencyHandle = {
  isRepeat: false,
  identify: () => ({ kind: 'first' }),
  bindJob: async () => undefined,
  saveAnswer: async (_tx, answer) => answer,
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
  idempotency: IdempotencyHandle;
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
