import tls from 'node:tls';
import type { AllowedTarget } from '../../config/values.ts';
import { Deadlines } from '../../egress/deadlines.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { type AskNameServers, Resolver } from '../../egress/dns/resolve.ts';
import { readProxy } from '../../egress/tunnel.ts';
import { parseWebhookUrl, type UrlTarget } from '../../rules/network/url-guard.ts';
import {
  Attempt,
  type AttemptContext,
  type Destination,
  forbiddenReport,
  type PostReport,
  type Sending,
} from './attempt.ts';
import { ConnectionPool, type Turn } from './connections.ts';
import { HandshakeLimiter } from './handshake-limiter.ts';

export type PostRequest = {
  url: string;
  /** DNS lookups are limited per account. */
  accountId: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The receiver has been failing, or is new: it waits behind the others for a connection. */
  isDegraded?: boolean;
} & Partial<Sending>;

export type Poster = {
  /**
   * Makes one attempt. Null when nothing was sent, because it was withdrawn or a limit was reached for too long.
   * @throws NameServersAwayError  nothing was sent
   */
  post(request: PostRequest): Promise<PostReport | null>;
  /** Ends all attempts in progress. */
  close(): void;
};

export type PosterOptions = {
  /** For a whole attempt, the DNS lookup included. */
  timeoutMs: number;
  /** How long an attempt may wait before it starts, not included in `timeoutMs`. */
  maxWaitMs: number;
  allowedTargets: AllowedTarget[];
  /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  maxHandshakes?: number;
  lookup?: Lookup | undefined;
  askNameServers?: AskNameServers | undefined;
  /** Time in ms that does not jump, for idle connections; default: performance.now. */
  monotonicMs?: () => number;
  /** CONNECT proxy for all connections, as http:// or https:// URL. */
  proxyUrl?: string | null | undefined;
};

const MAX_HANDSHAKES = 100;
const MAX_CACHED_DESTINATIONS = 10_000;
// With a longer wait, the waits for a host, a handshake and a lookup together could outlast the lease.
const MAX_LOOKUP_WAIT_MS = 2_000;

/**
 * Sends signed bodies over HTTPS, directly or through the egress proxy, to addresses that the same attempt has checked.
 * Redirects are not followed, and no proxy is read from the environment.
 */
export function openPoster(options: PosterOptions): Poster {
  return new HttpsPoster(options);
}

class HttpsPoster implements Poster {
  readonly #maxLookupWaitMs: number;
  readonly #context: AttemptContext;
  readonly #handshakes: HandshakeLimiter;
  readonly #resolver: Resolver;
  readonly #destinations = new Map<string, Destination | null>();
  #isClosed = false;

  constructor(options: PosterOptions) {
    const { timeoutMs, maxWaitMs, maxHandshakes = MAX_HANDSHAKES, allowedTargets, ca, proxyUrl, monotonicMs } = options;
    const deadlines = new Deadlines();
    this.#maxLookupWaitMs = Math.min(maxWaitMs, MAX_LOOKUP_WAIT_MS);
    this.#handshakes = new HandshakeLimiter({ permits: maxHandshakes, maxWaitMs, deadlines });
    this.#resolver = new Resolver(options.lookup, options.askNameServers);
    this.#context = {
      timeoutMs,
      allowedTargets,
      deadlines,
      pool: new ConnectionPool({ maxWaitMs, ...(monotonicMs && { monotonicMs }) }),
      // One context for all connections: creating one reads every trusted certificate.
      secureContext: tls.createSecureContext({ minVersion: 'TLSv1.2', ...(ca ? { ca } : {}) }),
      proxy: proxyUrl ? readProxy(proxyUrl) : null,
    };
  }

  async post(request: PostRequest): Promise<PostReport | null> {
    const { url, accountId, headers, body, isDegraded = false } = request;
    const {
      isWithdrawn = () => false,
      confirm = () => null,
      onSend = () => undefined,
      mayRepeat = () => true,
    } = request;
    const destination = this.#destinationOf(url);
    if (!destination) return forbiddenReport();
    const acquired = this.#isClosed ? null : await this.#context.pool.acquire(destination.origin);
    const mayStart = acquired === null || acquired.connection !== null;
    const turn = mayStart ? acquired : await this.#waitForHandshake(acquired, destination.origin, isDegraded);
    if (!turn) return null;
    const { literal, hostname } = destination.target;
    const lookup =
      literal === null
        ? await this.#resolver.startLookup(hostname, { accountId, maxWaitMs: this.#maxLookupWaitMs })
        : null;
    if (literal === null && !lookup) {
      if (turn.connection) this.#context.pool.giveBack(turn.connection);
      turn.opened();
      return null;
    }
    const sent = { ...destination, headers, body, isWithdrawn, confirm, onSend, mayRepeat };
    return await new Attempt(this.#context, sent, { turn, lookup }).run();
  }

  close(): void {
    this.#isClosed = true;
    this.#handshakes.close();
    this.#resolver.close();
    this.#context.deadlines.expireAll();
    this.#context.pool.close();
  }

  /** The parts of a URL; null when the rules refuse it. Cached, unlike the check of the addresses of a name. */
  #destinationOf(url: string): Destination | null {
    const cached = this.#destinations.get(url);
    if (cached !== undefined) return cached;
    const parsed = parseWebhookUrl(url, this.#context.allowedTargets);
    const destination = parsed.kind === 'ok' ? splitUrl(parsed.target) : null;
    if (this.#destinations.size >= MAX_CACHED_DESTINATIONS) this.#destinations.clear();
    this.#destinations.set(url, destination);
    return destination;
  }

  /** Null when the attempt may neither open a connection in time nor take one that another attempt has given back. */
  async #waitForHandshake(turn: Turn, origin: string, isDegraded: boolean): Promise<Turn | null> {
    const permit = await this.#handshakes.acquire(isDegraded);
    const opened = () => {
      permit?.release();
      turn.opened();
    };
    // Another attempt may have given one back during the wait.
    const connection = permit && this.#context.pool.take(origin);
    if (connection || !permit) opened();
    return permit && { connection, opened };
  }
}

function splitUrl(target: UrlTarget): Destination {
  const { origin, pathname, search } = new URL(target.href);
  return { target, origin, path: pathname + search };
}
