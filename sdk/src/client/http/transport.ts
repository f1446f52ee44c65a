import type { Page } from '../../wire.ts';
import { type Clock, systemClock } from './clock.ts';
import { AbortedError, ConnectionError, NotFoundError, readApiError, TimeoutError, VerbatimError } from './errors.ts';
import { readEventStream, type ServerSentEvent } from './event-stream.ts';
import { CsvPages, Pages } from './pages.ts';
import { readJson, readStream, readText } from './read-answer.ts';
import { retryDelayMs } from './retry.ts';
import { type ClientOptions, type Credential, isBrowser, type RequestOptions, readVariable } from './settings.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** What an attempt sends. `fetch`: in place of the client's. */
export type Payload = {
  body: Blob | ReadableStream<Uint8Array> | string;
  headers: Record<string, string>;
  fetch?: typeof fetch | undefined;
};

export type Call = RequestOptions & {
  query?: object | undefined;
  /** Sent as JSON. */
  body?: object | undefined;
  /** Makes the body anew for each attempt, in place of `body`. */
  makeBody?: (() => Promise<Payload>) | undefined;
  /** False: the body can be sent only once. */
  isRepeatable?: (() => boolean) | undefined;
  /** The time limit ends with the headers of the answer. */
  isStream?: boolean | undefined;
  /** Of a stream: called with the headers of the answer, before its first event. */
  onOpen?: ((headers: Headers) => void) | undefined;
};

export type TransportOptions = ClientOptions & {
  credential: Credential | undefined;
  /** The headers that carry the credential. */
  authorize(credential: string): Record<string, string>;
};

/** `fetch` of Node takes it; its types do not. */
type Init = RequestInit & { duplex?: 'half' };

const TIMEOUT_MS = 60_000;
const MAX_RETRIES = 2;
const DEFAULT_URL = 'http://127.0.0.1:8080';
// Workers refuse 'error'.
const REDIRECT = globalThis.navigator?.userAgent === 'Cloudflare-Workers' ? 'manual' : 'error';

/** Sends requests: with the credential, in time, and again where that helps. */
export class Transport {
  readonly options: TransportOptions;
  readonly clock: Clock;
  readonly baseUrl: string;

  constructor(options: TransportOptions) {
    if (isBrowser && !options.allowBrowser) {
      throw new TypeError('Everybody who opens this page can read its key. If that is meant, set allowBrowser: true.');
    }
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.baseUrl = (options.baseUrl ?? readVariable('VERBATIM_URL') ?? DEFAULT_URL).replace(/\/+$/, '');
  }

  /** The JSON of the answer; undefined for a 204. */
  async json<Body>(method: Method, path: string, call: Call = {}): Promise<Body> {
    return await this.send(method, path, call, async (answer) => (await readJson(answer)) as Body);
  }

  async text(method: Method, path: string, call: Call = {}): Promise<string> {
    return await this.send(method, path, call, readText);
  }

  /** A list, page by page. */
  pages<Item>(path: string, query: object = {}, options: RequestOptions = {}): Pages<Item> {
    return new Pages((cursor) =>
      this.json<Page<Item>>('GET', path, { ...options, query: { ...query, ...(cursor !== null && { cursor }) } }),
    );
  }

  /** A list, page by page, in JSON or CSV. */
  csvPages<Item>(path: string, query: object = {}, options: RequestOptions = {}): CsvPages<Item> {
    const callFor = (cursor: string | null, more: object = {}) => ({
      ...options,
      query: { ...query, ...more, ...(cursor !== null && { cursor }) },
    });
    return new CsvPages(
      (cursor) => this.json<Page<Item>>('GET', path, callFor(cursor)),
      (cursor) =>
        this.send('GET', path, callFor(cursor, { format: 'csv' }), async (answer) => ({
          text: await readText(answer),
          cursor: answer.headers.get('x-next-cursor'),
        })),
    );
  }

  /** The events of a stream, until it ends or is cut. The opening of the stream is not repeated. */
  async *events(path: string, call: Call = {}): AsyncGenerator<ServerSentEvent> {
    const signal = this.#signalOf(call);
    const headers = { accept: 'text/event-stream', ...call.headers };
    const open = { ...call, headers, isStream: true, maxRetries: 0 };
    const answer = await this.send('GET', path, open, async (answer) => answer);
    try {
      const body = readStream(answer);
      call.onOpen?.(answer.headers);
      yield* readEventStream(body, this.clock, signal);
    } catch (error) {
      // Rather than that the stream was cut.
      throwIfAborted(signal);
      throw error;
    }
    throwIfAborted(signal);
  }

  /**
   * Sends the request until an attempt succeeds or the error is final.
   * @param read  reads an answer with a 2xx
   * @throws VerbatimError
   */
  async send<Result>(
    method: Method,
    path: string,
    call: Call,
    read: (answer: Response) => Promise<Result>,
  ): Promise<Result> {
    const { maxRetries = this.options.maxRetries ?? MAX_RETRIES, isRepeatable = () => true } = call;
    const signal = this.#signalOf(call);
    const url = this.baseUrl + path + writeQuery(call.query);
    const own: Record<string, string> =
      method === 'POST' ? { 'idempotency-key': call.idempotencyKey ?? makeKey() } : {};
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt({ method, path, url, call, own, attempt }, read);
      } catch (error) {
        // The answer to an earlier attempt was lost.
        if (method === 'DELETE' && attempt > 0 && error instanceof NotFoundError)
          return await read(new Response(null, { status: 204 }));
        const delayMs = error instanceof VerbatimError ? retryDelayMs(error, attempt, Math.random()) : null;
        if (delayMs === null || attempt >= maxRetries) throw error;
        if (!isRepeatable()) throw noteStream(error as VerbatimError);
        await this.clock.sleep(delayMs, signal);
      }
    }
  }

  async #attempt<Result>(
    sent: { method: Method; path: string; url: string; call: Call; own: Record<string, string>; attempt: number },
    read: (answer: Response) => Promise<Result>,
  ): Promise<Result> {
    const { method, path, url, call, own, attempt } = sent;
    const { clock, options } = this;
    const signal = this.#signalOf(call);
    throwIfAborted(signal);
    const payload = await makePayload(call);
    const general = typeof options.headers === 'function' ? options.headers() : options.headers;
    const headers = new Headers({ ...general, ...payload?.headers, ...(await this.#authorize()), ...own });
    for (const [name, value] of Object.entries(call.headers ?? {})) headers.set(name, value);
    const timeoutMs = call.timeoutMs ?? options.timeoutMs ?? TIMEOUT_MS;
    const cut = new AbortController();
    const done = new AbortController();
    let phase: 'answer' | 'body' = 'answer';
    void clock.sleep(timeoutMs, done.signal).then(() => {
      if (!done.signal.aborted) cut.abort(new TimeoutError(phase, timeoutMs));
    });
    const init: Init = {
      method,
      headers,
      redirect: REDIRECT,
      signal: signal ? AbortSignal.any([signal, cut.signal]) : cut.signal,
      ...(payload && { body: payload.body as Blob }),
      ...(payload?.body instanceof ReadableStream && { duplex: 'half' }),
      // Other runtimes do not know these.
      ...(isBrowser && { credentials: 'omit', cache: 'no-store' }),
    };
    const startedAt = clock.now();
    const report = (answer: Response | null) =>
      options.onRequest?.({
        method,
        path,
        attempt: attempt + 1,
        status: answer?.status ?? null,
        headers: answer?.headers ?? null,
        requestId: answer?.headers.get('x-request-id') ?? null,
        durationMs: clock.now() - startedAt,
      });
    try {
      const answer = await (payload?.fetch ?? options.fetch ?? fetch)(url, init).catch((cause: unknown) => {
        report(null);
        throw cause;
      });
      report(answer);
      if (call.isStream && answer.ok) done.abort();
      phase = 'body';
      if (!answer.ok) throw await readApiError(answer, clock.now());
      return await read(answer);
    } catch (error) {
      throw this.#explain(error, signal, cut.signal);
    } finally {
      done.abort();
    }
  }

  #explain(error: unknown, signal: AbortSignal | undefined, cut: AbortSignal): unknown {
    if (error instanceof VerbatimError) return error;
    if (signal?.aborted) return abortedBy(signal);
    if (cut.aborted) return cut.reason;
    const { code } = ((error as Error)?.cause ?? {}) as { code?: string };
    const detail = code ? ` (${code})` : '';
    return new ConnectionError(`No complete answer came from ${this.baseUrl}${detail}.`, { cause: error });
  }

  async #authorize(): Promise<Record<string, string>> {
    const { credential, authorize } = this.options;
    const secret = typeof credential === 'function' ? await credential() : credential;
    return secret === undefined ? {} : authorize(secret);
  }

  #signalOf({ signal }: RequestOptions): AbortSignal | undefined {
    const general = this.options.signal;
    return signal && general ? AbortSignal.any([signal, general]) : (signal ?? general);
  }
}

async function makePayload({ makeBody, body }: Call): Promise<Payload | null> {
  if (makeBody) return await makeBody();
  return body === undefined ? null : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } };
}

/** 128 random bits. Not randomUUID: pages that came over plain HTTP do not have it. */
function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `vb-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** A path with its ids encoded. @throws TypeError  for an id that would change the path */
export function route(parts: TemplateStringsArray, ...ids: string[]): string {
  const encoded = ids.map((id) => {
    if (typeof id !== 'string' || /^\.{0,2}$/.test(id)) throw new TypeError(`${JSON.stringify(id)} is not an id.`);
    return encodeURIComponent(id);
  });
  return String.raw({ raw: parts }, ...encoded);
}

/** `?name=value`; a list with commas; an object as `name[key]=value`. */
function writeQuery(query: object = {}): string {
  const entries = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    if (typeof value !== 'object' || Array.isArray(value)) return [[name, String(value)]];
    return Object.entries(value).map(([key, each]) => [`${name}[${key}]`, String(each)]);
  });
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries)}`;
}

function noteStream(error: VerbatimError): VerbatimError {
  error.message += ' It was not tried again, because a stream can be read only once.';
  return error;
}

export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw abortedBy(signal);
}

function abortedBy({ reason }: AbortSignal): VerbatimError {
  return reason instanceof VerbatimError ? reason : new AbortedError(reason);
}
