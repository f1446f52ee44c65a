import type tls from 'node:tls';
import type { AllowedTarget } from '../../config/values.ts';
import { connectTls } from '../../egress/connect.ts';
import type { Deadline, Deadlines } from '../../egress/deadlines.ts';
import type { RunningLookup } from '../../egress/dns/resolve.ts';
import { codeOf, forbiddenAddress, NameServersAwayError, TransportError } from '../../egress/transport-error.ts';
import type { EgressProxy } from '../../egress/tunnel.ts';
import { evaluateAddresses, type UrlTarget } from '../../rules/network/url-guard.ts';
import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';
import type { Connection, ConnectionPool, Turn } from './connections.ts';
import { exchange, type HttpResponse } from './exchange.ts';

/**
 * The result of one POST, with the duration of each phase in ms;
 * null for a phase that did not take place, or did not succeed.
 */
export type PostReport = {
  result: PostResult;
  durationMs: number;
  dnsMs: number | null;
  connectMs: number | null;
  tlsMs: number | null;
  firstByteMs: number | null;
  remoteAddress: string | null;
  responseHeaders: Record<string, string | string[]> | null;
  responseBody: Buffer | null;
};

/** Where a URL points; the rules have allowed it, and its address when it has one. */
export type Destination = { target: UrlTarget; origin: string; path: string };

/** What the caller of an attempt decides, and is told, while it is made. */
export type Sending = {
  /** Evaluated just before the request is sent: true, and nothing is sent. */
  isWithdrawn: () => boolean;
  /** Reads what `isWithdrawn` needs, before it. False, and nothing is sent; null: there is nothing to read. */
  confirm: () => Promise<boolean> | null;
  /** The request is sent now. */
  onSend: () => void;
  /** The receiver had closed an idle connection: whether the request may be sent again, on another one. */
  mayRepeat: () => boolean;
};

export type AttemptRequest = Destination & Sending & { headers: Record<string, string>; body: Buffer };

/** What all attempts of a poster share. */
export type AttemptContext = {
  timeoutMs: number;
  allowedTargets: AllowedTarget[];
  deadlines: Deadlines;
  pool: ConnectionPool;
  secureContext: tls.SecureContext;
  proxy: EgressProxy | null;
};

/** The request was withdrawn before it was sent. */
class Withdrawn extends Error {}

/** One attempt, from the DNS lookup to the response, within one deadline. */
export class Attempt {
  readonly #context: AttemptContext;
  readonly #request: AttemptRequest;
  readonly #turn: Turn;
  readonly #lookup: RunningLookup | null;
  readonly #startedAt = performance.now();
  readonly #deadline: Deadline;
  readonly #trace = emptyTrace();
  /** The connection that this attempt uses, until it is given back. */
  #connection: Connection | null;

  /** @param lookup  of the target's name, already started; null for an IP literal */
  constructor(
    context: AttemptContext,
    request: AttemptRequest,
    { turn, lookup }: { turn: Turn; lookup: RunningLookup | null },
  ) {
    this.#context = context;
    this.#request = request;
    this.#turn = turn;
    this.#lookup = lookup;
    this.#connection = turn.connection;
    this.#deadline = context.deadlines.start(context.timeoutMs);
  }

  /**
   * Null when the request was withdrawn before it was sent.
   * @throws NameServersAwayError
   */
  async run(): Promise<PostReport | null> {
    try {
      return this.#report({ kind: 'answered', status: await this.#send() });
    } catch (cause) {
      if (cause instanceof Withdrawn) return null;
      const result = transportResult(cause);
      const isUnresolved = result.kind === 'transport_error' && result.reason === 'dns';
      if (isUnresolved && (await this.#lookup?.areNameServersAway())) throw new NameServersAwayError({ cause });
      return this.#report(result);
    } finally {
      if (this.#connection) this.#context.pool.discard(this.#connection);
      this.#deadline.cancel();
      this.#turn.opened();
    }
  }

  /** The status of the response. @throws TransportError, or Withdrawn */
  async #send(): Promise<number> {
    const addresses = this.#lookup ? await this.#resolve(this.#lookup) : [this.#request.target.hostname];
    if (this.#connection && addresses.includes(this.#connection.address)) {
      try {
        return this.#received(this.#connection, await this.#exchangeOn(this.#connection));
      } catch (cause) {
        // A receiver may close an idle connection just when it is reused. The attempt continues on a new one, once.
        if (!wasClosedUnread(cause, this.#connection) || this.#deadline.isExpired) throw cause;
        // The receiver may have got the request: the failure of this attempt is recorded.
        if ((await this.#isWithdrawn()) || !this.#request.mayRepeat()) throw cause;
      }
    }
    // The name may have another address now. The old one was checked by an earlier attempt, not by this one.
    if (this.#connection) this.#context.pool.discard(this.#connection);
    const connection = await this.#connect(addresses);
    this.#connection = connection;
    return this.#received(connection, await this.#exchangeOn(connection));
  }

  /** All addresses of the name, none of them forbidden. */
  async #resolve({ addresses }: RunningLookup): Promise<string[]> {
    const startedAt = performance.now();
    const found = await new Promise<string[]>((resolve, reject) => {
      this.#deadline.onExpired = () =>
        reject(new TransportError('dns', 'The name was not resolved within the time for an attempt.'));
      addresses.then(resolve, (cause) => {
        reject(new TransportError('dns', `The name could not be resolved (${codeOf(cause)}).`, { cause }));
      });
    });
    this.#trace.dnsMs = performance.now() - startedAt;
    if (!this.#areAllowed(found)) throw forbiddenAddress();
    return found;
  }

  #areAllowed(addresses: string[]): boolean {
    const { target } = this.#request;
    return evaluateAddresses({ target, addresses, allowed: this.#context.allowedTargets }).kind === 'ok';
  }

  async #connect(addresses: string[]): Promise<Connection> {
    const { target, origin } = this.#request;
    const { secureContext, proxy, pool } = this.#context;
    const connected = await connectTls({
      addresses,
      port: target.port,
      servername: target.literal === null ? target.hostname : null,
      secureContext,
      proxy,
      deadline: this.#deadline,
      isAllowedPeer: (address) => this.#areAllowed([address]),
      onConnected: (connectMs) => {
        this.#trace.connectMs = connectMs;
      },
    });
    this.#trace.tlsMs = connected.tlsMs;
    const connection = pool.adopt(origin, connected.address, connected.socket);
    this.#turn.opened();
    return connection;
  }

  async #exchangeOn(connection: Connection): Promise<HttpResponse> {
    if (await this.#isWithdrawn()) throw new Withdrawn();
    this.#request.onSend();
    this.#trace.remoteAddress = connection.address;
    return await exchange(connection.client, this.#request, this.#deadline);
  }

  async #isWithdrawn(): Promise<boolean> {
    const confirmed = this.#request.confirm();
    if (confirmed !== null && (!(await confirmed) || this.#deadline.isExpired)) return true;
    return this.#request.isWithdrawn();
  }

  /** The status of a response. A connection that can carry another request is given back. */
  #received(connection: Connection, response: HttpResponse): number {
    const trace = this.#trace;
    trace.firstByteMs = response.firstByteMs;
    trace.responseHeaders = response.headers;
    trace.responseBody = response.body;
    if (response.isComplete) {
      this.#connection = null;
      this.#context.pool.giveBack(connection);
    }
    return response.status;
  }

  #report(result: PostResult): PostReport {
    return { ...this.#trace, result, durationMs: performance.now() - this.#startedAt };
  }
}

/** The report for a URL that the rules refuse; nothing was sent. */
export function forbiddenReport(): PostReport {
  return { ...emptyTrace(), result: transportResult(forbiddenAddress()), durationMs: 0 };
}

// Servers and load balancers close connections that were idle for whole seconds.
const IDLE_MS = 1_000;

/**
 * Whether a request on a reused connection failed as it does when the receiver had closed the connection before: by an
 * orderly end, or, after a while without requests, by a reset. Otherwise the receiver may have read the request and
 * then failed: the next attempt comes after the wait for it.
 */
function wasClosedUnread(cause: unknown, { idleMs }: Connection): boolean {
  if (!(cause instanceof TransportError) || cause.reason !== 'reset') return false;
  return codeOf(cause.cause) !== 'ECONNRESET' || idleMs >= IDLE_MS;
}

function transportResult(cause: unknown): PostResult {
  if (!(cause instanceof TransportError)) throw cause;
  return { kind: 'transport_error', reason: cause.reason, message: cause.message };
}

function emptyTrace(): Omit<PostReport, 'result' | 'durationMs'> {
  return {
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: null,
    remoteAddress: null,
    responseHeaders: null,
    responseBody: null,
  };
}
