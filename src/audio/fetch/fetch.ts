import type net from 'node:net';
import tls from 'node:tls';
import { connectPlain, connectTls } from '../../egress/connect.ts';
import { type Deadline, Deadlines } from '../../egress/deadlines.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { Resolver } from '../../egress/dns/resolve.ts';
import { codeOf, forbiddenAddress, TransportError } from '../../egress/transport-error.ts';
import { type EgressProxy, readProxy } from '../../egress/tunnel.ts';
import { VERSION } from '../../platform/installation.ts';
import { evaluateRedirect, isRedirect, isSameOrigin } from '../../rules/network/redirect.ts';
import { type AllowedTarget, evaluateAddresses, parseAudioUrl, type UrlTarget } from '../../rules/network/url-guard.ts';
import { AudioError } from '../audio-error.ts';
import { dispositionFilename } from './content-disposition.ts';
import { exchange, type HttpAnswer } from './exchange.ts';
import { asFetchError, FetchError } from './fetch-error.ts';
import { type Resumption, readResumed } from './resume.ts';

export type FetchRequest = {
  url: string;
  /** Headers of the client, for the origin of `url` only. */
  headers: Record<string, string>;
  /** DNS lookups are limited per account. */
  accountId: string;
  /** Ends the fetch, also while its body is read. */
  signal: AbortSignal;
  /** Decides whether a file whose body fails is asked for again, from there on. */
  nextTry: Resumption['nextTry'];
};

/** A file that was opened. Disposing closes its connection. */
export type FetchedFile = Disposable & {
  bytes: AsyncIterable<Uint8Array>;
  /** Null when the server does not say. */
  sizeBytes: number | null;
  /** Such as `audio/mpeg`; null when the server names none. Not to be trusted. */
  mediaType: string | null;
  /** The server's name for the file, for display; null when it gives none. */
  filename: string | null;
};

export type FetchTimes = { connectMs: number; headersMs: number; stallMs: number };

export type FetcherOptions = {
  allowedTargets: readonly AllowedTarget[];
  /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  lookup?: Lookup | undefined;
  /** CONNECT proxy for all connections, as http:// or https:// URL. */
  proxyUrl?: string | null | undefined;
  times?: FetchTimes | undefined;
};

const TIMES: FetchTimes = { connectMs: 10_000, headersMs: 30_000, stallMs: 30_000 };
const OK = 200;
const PARTIAL_CONTENT = 206;

/** Fetches files from URLs of clients, directly or through the egress proxy, from addresses that were checked. */
export class FileFetcher {
  readonly #options: FetcherOptions;
  readonly #times: FetchTimes;
  readonly #resolver: Resolver;
  readonly #secureContext: tls.SecureContext;
  readonly #proxy: EgressProxy | null;

  constructor(options: FetcherOptions) {
    const { ca, lookup, proxyUrl, times = TIMES } = options;
    this.#options = options;
    this.#times = times;
    this.#resolver = new Resolver(lookup);
    this.#secureContext = tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca ? { ca } : {}) });
    this.#proxy = proxyUrl ? readProxy(proxyUrl) : null;
  }

  /**
   * Follows redirects to the file and opens it; the caller reads `bytes`, then disposes the file. Each URL on the way
   * is subject to the same rules, and is connected to at an address that was checked for it.
   * @throws FetchError, AudioError  for an answer that cannot be audio
   * @throws unknown  the signal's reason, once it has aborted
   */
  async open(request: FetchRequest): Promise<FetchedFile> {
    const first = await this.#follow(request, {});
    if (first.status !== OK) throw statusError(first);
    let answer = first;
    const openAgain = async (headers: Record<string, string>) => {
      answer = await this.#follow(request, headers);
      if (answer.status !== OK && answer.status !== PARTIAL_CONTENT) throw statusError(answer);
      return answer;
    };
    const { signal, nextTry } = request;
    const { headers } = first;
    return {
      bytes: readResumed(first, { openAgain, nextTry, signal, stallMs: this.#times.stallMs }),
      sizeBytes: headers['content-length'] === undefined ? null : Number(headers['content-length']),
      mediaType: mediaTypeOf(headers['content-type']),
      filename: dispositionFilename(headers['content-disposition']),
      [Symbol.dispose]: () => void answer.body.destroy(),
    };
  }

  close(): void {
    this.#resolver.close();
  }

  /** The answer behind the redirects. `own` goes to every origin. @throws AudioError  when it is compressed */
  async #follow({ url, headers, accountId, signal }: FetchRequest, own: Record<string, string>): Promise<HttpAnswer> {
    const parsed = parseAudioUrl(url, this.#options.allowedTargets);
    if (parsed.kind === 'refused') throw asFetchError(forbiddenAddress());
    const visited = [parsed.target];
    let sent = headers;
    for (;;) {
      const answer = await this.#get(visited.at(-1)!, { ...sent, ...own }, { accountId, signal });
      if (!isRedirect(answer.status)) return refuseCompressed(answer);
      answer.body.destroy();
      const next = evaluateRedirect(answer.headers.location, { visited, allowed: this.#options.allowedTargets });
      if (next.kind === 'refused') throw new FetchError(next.reason, next.message);
      visited.push(next.target);
      // Once they were left out they stay out, also when a later redirect leads back.
      if (!isSameOrigin(next.target, visited[0]!)) sent = {};
    }
  }

  async #get(
    target: UrlTarget,
    headers: Record<string, string>,
    { accountId, signal }: Pick<FetchRequest, 'accountId' | 'signal'>,
  ): Promise<HttpAnswer> {
    const { host, pathname, search } = new URL(target.href);
    let socket: net.Socket | null = null;
    try {
      socket = await this.#connect(target, accountId, signal);
      const close = () => socket?.destroy();
      signal.addEventListener('abort', close, { once: true });
      socket.once('close', () => signal.removeEventListener('abort', close));
      return await exchange(socket, {
        path: pathname + search,
        headers: {
          'User-Agent': `Verbatim/${VERSION}`,
          Accept: '*/*',
          ...headers,
          Host: host,
          'Accept-Encoding': 'identity',
          Connection: 'close',
        },
        headersMs: this.#times.headersMs,
      });
    } catch (error) {
      signal.throwIfAborted();
      throw asFetchError(error);
    }
  }

  async #connect(target: UrlTarget, accountId: string, signal: AbortSignal): Promise<net.Socket> {
    const deadlines = new Deadlines();
    const deadline = deadlines.start(this.#times.connectMs);
    const expire = () => deadlines.expireAll();
    signal.addEventListener('abort', expire, { once: true });
    try {
      signal.throwIfAborted();
      const addresses = await resolveInTime(deadline, this.#addressesOf(target, accountId));
      const request = {
        addresses,
        port: target.port,
        secureContext: this.#secureContext,
        proxy: this.#proxy,
        deadline,
        isAllowedPeer: (address: string) => this.#areAllowed(target, [address]),
      };
      if (!target.isTls) return await connectPlain(request);
      const { socket } = await connectTls({ ...request, servername: target.literal === null ? target.hostname : null });
      return socket;
    } finally {
      deadline.cancel();
      signal.removeEventListener('abort', expire);
    }
  }

  /** All addresses of the target, none of them forbidden. */
  async #addressesOf(target: UrlTarget, accountId: string): Promise<string[]> {
    if (target.literal !== null) return [target.literal];
    const maxWaitMs = this.#times.connectMs;
    const lookup = await this.#resolver.startLookup(target.hostname, { accountId, maxWaitMs });
    if (lookup === null) throw new TransportError('dns', 'Too many names are being resolved.');
    const addresses = await lookup.addresses.catch((cause: unknown) => {
      throw new TransportError('dns', `The name could not be resolved (${codeOf(cause)}).`, { cause });
    });
    if (!this.#areAllowed(target, addresses)) throw forbiddenAddress();
    return addresses;
  }

  #areAllowed(target: UrlTarget, addresses: string[]): boolean {
    return evaluateAddresses({ target, addresses, allowed: this.#options.allowedTargets }).kind === 'ok';
  }
}

function resolveInTime(deadline: Deadline, addresses: Promise<string[]>): Promise<string[]> {
  return new Promise((resolve, reject) => {
    deadline.onExpired = () => reject(new TransportError('dns', 'The name was not resolved in time.'));
    addresses.then(resolve, reject);
  });
}

function refuseCompressed(answer: HttpAnswer): HttpAnswer {
  const { status, headers, body } = answer;
  const encoding = headers['content-encoding'] ?? '';
  if ((status !== OK && status !== PARTIAL_CONTENT) || encoding === '' || encoding.toLowerCase() === 'identity') {
    return answer;
  }
  body.destroy();
  throw new AudioError('The server sends the file compressed. Have it send it without Content-Encoding.');
}

function statusError({ status, headers, body }: HttpAnswer): FetchError {
  body.destroy();
  const hint = status === 401 || status === 403 ? ': the link may have expired, or need a header' : '';
  return new FetchError('http_status', `The server answered ${status}${hint}.`, {
    httpStatus: status,
    retryAfter: headers['retry-after'] ?? null,
  });
}

function mediaTypeOf(contentType: string | undefined): string | null {
  return /^[a-z0-9.+-]{1,60}\/[a-z0-9.+-]{1,60}/i.exec(contentType ?? '')?.[0].toLowerCase() ?? null;
}
