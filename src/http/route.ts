import type { Readable } from 'node:stream';
import type { Actor, CallerAccount } from '../accounts/account.ts';
import type { Sql } from '../db/database.ts';
import type { Scope } from '../rules/accounts/scopes.ts';
import type { ErrorType } from './api-error.ts';
import type { Static, TSchema } from './schema.ts';
import type { MessageBudget } from './websocket/message-budgets.ts';
import type { OpenSocket, SocketUser } from './websocket/open-socket.ts';

/** The rate limit that a request counts against. */
export type Bucket = 'transcribe' | 'balance' | 'jobs' | 'resend' | 'live' | 'default';

/** What an earlier request with the same Idempotency-Key left behind, found by comparing the bodies. */
export type Identified =
  | { kind: 'first' }
  /** The earlier request was answered: send this answer again. */
  | { kind: 'replay'; answer: Answer }
  /** The earlier request created this job and ended before its answer was saved. */
  | { kind: 'resume'; jobId: string };

/** With it a handler executes its work once per Idempotency-Key. Without the header every method does nothing. */
export type IdempotencyHandle = {
  /** Whether the request has an Idempotency-Key. */
  hasKey: boolean;
  /** Whether an earlier request with the key left an answer or a job, which this request may only be given again. */
  isRepeat: boolean;
  /**
   * Compares the body with that of the earlier request. The handler of an upload calls it after reading the body; for
   * all other routes the server has called it before the handler runs.
   * @throws ApiError  409 when the key was used for another body
   */
  identify(fingerprint: string): Identified;
  /**
   * Stores the job's id with the key, in the transaction that inserts the job:
   * a retry after a crash is answered with the job.
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
  hasKey: false,
  isRepeat: false,
  identify: () => ({ kind: 'first' }),
  bindJob: async () => undefined,
  saveAnswer: async (_tx, answer) => answer,
};

/** The memory for answers that clients have not read yet: of the account, and of the process. */
export type AnswerMemory = {
  /**
   * Counts an answer before the handler reads what it shows, until it is sent.
   * @throws ApiError  429 or 503 when it would be over a limit
   */
  reserve(bytes: number): void;
  /** Counts a part of a stream until it is disposed. @throws ApiError  as `reserve` */
  hold(bytes: number): Disposable;
};

/** Memory without a limit. */
export const UNLIMITED_MEMORY: AnswerMemory = {
  reserve: () => undefined,
  hold: () => ({ [Symbol.dispose]: () => undefined }),
};

/** A body that the handler reads as a stream. */
export type IncomingUpload = {
  /** The unread body. A client that waits for it is answered 100 Continue. */
  open(): Readable;
  contentType: string;
  /** Null without the header. */
  contentLength: number | null;
  /** Of a body that is the file itself: the query, which has the fields of the form. Null for a form. */
  rawQuery: string | null;
};

/** The arguments of a handler: validated values instead of a request object. */
export type Call<Params, Query, Body> = {
  account: CallerAccount;
  params: Params;
  query: Query;
  body: Body;
  /** The JSON body as it was written; only on routes with `keepsBodyText: true`. */
  bodyText: string;
  actor: Actor;
  /**
   * To be called at the end of what may last, such as an upload, before anything is done: keys are revoked meanwhile.
   * @throws ApiError  401 or 403 when a request with this key would not be admitted any more
   */
  checkCaller(): Promise<void>;
  /** A header of the request; null without it. @param name  in lower case */
  header(name: string): string | null;
  /** Aborts when the request is over: the client hung up, or the whole answer was sent. It may be aborted already. */
  signal: AbortSignal;
  /** Only on routes with `upload: true`. */
  upload: IncomingUpload;
  idempotency: IdempotencyHandle;
  memory: AnswerMemory;
  /** Adds a field to the request's log line: ids, counts, outcomes. Never a key, a secret, a transcript or metadata. */
  note(fields: Record<string, string | number | boolean | null>): void;
};

export type Answer = {
  status: number;
  /** Serialised with `writeJson`. A string with a `contentType` is sent unchanged. Absent for 204. */
  body?: unknown;
  contentType?: string;
  /** Sent in place of `body`; destroyed when the client hangs up. Needs `contentType`. */
  stream?: Readable;
  /** Of status 101: the connection becomes a WebSocket. The request must be a handshake: `requireHandshake`. */
  upgrade?: Upgrade;
  headers?: Record<string, string>;
  /** Each is a header Set-Cookie. */
  cookies?: string[];
};

/** Upgrades a request to a WebSocket: the answer 101 of a route. */
export type Upgrade = {
  /** The subprotocol to select, one of those that the client offers; null: none. */
  protocol: string | null;
  maxMessageBytes: number;
  /** Of the account whose client it is. */
  budget: MessageBudget;
  /** Called in the turn of the upgrade, before any message. */
  open(socket: OpenSocket): SocketUser;
  /** Called in place of `open` where the client is gone already. */
  abandon(): void;
};

/** The schema of each media type of an answer that is not always JSON. */
type MediaSchema = { media: Record<string, TSchema> };

/** The body of a status: a JSON value, other media types, or no body (null). */
export type AnswerSchema = TSchema | MediaSchema | null;

export type RouteSchema = {
  params?: TSchema;
  query?: TSchema;
  body?: TSchema;
  /** Of an upload: the JSON body that is accepted in place of the form. */
  jsonBody?: TSchema;
  /** Answers by status. They type the handler's result, and tests check every answer against them. */
  answers: Record<number, AnswerSchema>;
};

/** Authentication of a route. */
export type Access =
  /** An account's key with this scope, or with one of these; `any`: with any scopes. */
  | { auth: 'key'; scope: Scope | 'any' | readonly [Scope, ...Scope[]] }
  /** admin: the operator's token; session: the cookie of a session; none: no authentication. */
  | { auth: 'admin' | 'session' | 'none'; scope?: never };

/** An endpoint. Its schemas validate requests, type the handler and make the OpenAPI document. */
export type Route = Access & {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  path: string;
  /** With auth `key` or `session` only; absent: `default`. */
  bucket?: Bucket;
  upload?: boolean;
  /** Of an upload: a body of `audio/*` is the file, and the fields of the form stand in the query. */
  takesRawAudio?: boolean;
  /** The handler gets the text of the JSON body too, which may contain U+0000 as an escape. */
  keepsBodyText?: boolean;
  /** Also for sessions of a suspended account: to sign out, and to go to another account. */
  isForSuspended?: boolean;
  /**
   * A saved answer is sent again to the key that asked first only:
   * it shows what other keys of the account may not have.
   */
  replaysToSameKey?: boolean;
  /** What the audit log has of each success; the target is the `id` in the path, else the account. */
  event?:
    | 'job.deleted'
    | 'transcript.edited'
    | 'audio_link.created'
    | 'client_secret.created'
    | 'session.created'
    | 'session.ended';
  summary: string;
  /** Markdown for the API reference, in addition to the summary. */
  description?: string;
  tag: string;
  schema: RouteSchema;
  /** Errors in addition to those that openapi/errors.ts derives from the route. */
  errors?: readonly ErrorType[];
  /** OpenAPI links of the answers: parameters as runtime expressions, by operation id. */
  links?: Record<string, Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: routes of every shape; defineRoute checks each one.
  handle(call: Call<any, any, any>): Promise<Answer>;
};

type StaticOr<Schema, Else> = Schema extends TSchema ? Static<Schema> : Else;

/**
 * The answers that a route's schema allows, discriminated by status.
 * A route without described answers may answer anything.
 */
type AnswerOf<Answers> = [keyof Answers] extends [never] ? Answer : DescribedAnswer<Answers>;

type DescribedAnswer<Answers> = {
  [Status in keyof Answers & number]: Status extends 101
    ? { status: 101; body?: never; upgrade: Upgrade }
    : Answers[Status] extends null
      ? { status: Status; body?: never; headers?: Record<string, string>; cookies?: string[] }
      : Answers[Status] extends { media: unknown }
        ? Answer & { status: Status }
        : {
            status: Status;
            body: Answers[Status] extends TSchema ? Static<Answers[Status]> : never;
            headers?: Record<string, string>;
            cookies?: string[];
          };
}[keyof Answers & number];

/** A route whose handler gets and returns the types of its schemas. */
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
