import type tls from 'node:tls';
import type { AllowedTarget } from '../../config/values.ts';
import type { WebhookTarget } from '../../rules/network/url-guard.ts';
import { evaluateAddresses } from '../../rules/network/url-guard.ts';
import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';
import type { RunningLookup } from '../dns/resolve.ts';
import { connectTls } from './connect.ts';
import type { Connection, ConnectionPool } from './connections.ts';
import type { Deadline, DeadlineWheel } from './deadlines.ts';
import type { HttpResponse } from './exchange.ts';
import { exchange } from './exchange.ts';
import type { PerHostLimiter } from './per-host-limiter.ts';
import { codeOf, forbiddenAddress, TransportError } from './transport-error.ts';
import type { EgressProxy } from './tunnel.ts';

/** The result of one POST, with the duration of each phase in ms; null for a phase that did not take place. */
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

export type Destination = { target: WebhookTarget; origin: string; path: string };

export type AttemptRequest = Destination & { headers: Record<string, string>; body: Buffer };

/** An idle connection to reuse, or permission to open one. */
export type ConnectPermit = { connection: Connection | null; release(): void };

/** What all attempts of a poster share. */
export type AttemptContext = {
  timeoutMs: number;
  allowedTargets: AllowedTarget[];
  wheel: DeadlineWheel;
  pool: ConnectionPool;
  hosts: PerHostLimiter;
  secureContext: tls.SecureContext;
  proxy: EgressProxy | null;
};

/** One attempt, from the DNS lookup to the response, within one deadline. */
export class Attempt {
  readonly #context: AttemptContext;
  readonly #request: AttemptRequest;
  readonly #permit: ConnectPermit;
  readonly #lookup: RunningLookup | null;
  readonly #startedAt = performance.now();
  readonly #deadline: Deadline;
  readonly #trace = emptyTrace();

  /** @param lookup  of the target's name, already started; null for an IP literal */
  constructor(
    context: AttemptContext,
    request: AttemptRequest,
    { permit, lookup }: { permit: ConnectPermit; lookup: RunningLookup | null },
  ) {
    this.#context = context;
    this.#request = request;
    this.#permit = permit;
    this.#lookup = lookup;
    this.#deadline = context.wheel.start(context.timeoutMs);
  }

  async run(): Promise<PostReport> {
    try {
      const { status } = await this.#send();
      return this.#report({ kind: 'answered', status });
    } catch (cause) {
      return this.#report(transportResult(cause));
    } finally {
      this.#deadline.cancel();
      this.#permit.release();
    }
  }

  async #send(): Promise<HttpResponse> {
    const { connection } = this.#permit;
    const addresses = await this.#findAddresses().catch((cause) => {
      if (connection) this.#context.pool.discard(connection);
      throw cause;
    });
    if (connection && addresses.includes(connection.address)) {
      const response = await this.#exchangeOn(connection).catch((cause) => this.#nullIfStale(cause));
      if (response) return response;
    } else if (connection) {
      // The name has another address now. The connection's address was checked by an earlier attempt, not by this one.
      this.#context.pool.discard(connection);
    }
    return await this.#exchangeOn(await this.#connect(addresses));
  }

  async #findAddresses(): Promise<string[]> {
    const { target } = this.#request;
    const startedAt = performance.now();
    const addresses = this.#lookup ? await this.#resolved(this.#lookup) : [target.hostname];
    if (this.#lookup) this.#trace.dnsMs = performance.now() - startedAt;
    if (!this.#areAllowed(addresses)) throw forbiddenAddress();
    return addresses;
  }

  #resolved({ addresses }: RunningLookup): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#deadline.onExpired = () =>
        reject(new TransportError('dns', 'The name was not resolved within the time for an attempt.'));
      addresses.then(resolve, (cause) => {
        reject(new TransportError('dns', `The name could not be resolved (${codeOf(cause)}).`, { cause }));
      });
    });
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
    });
    this.#permit.release();
    this.#trace.connectMs = connected.connectMs;
    this.#trace.tlsMs = connected.tlsMs;
    return pool.adopt(origin, connected.address, connected.socket);
  }

  async #exchangeOn(connection: Connection): Promise<HttpResponse> {
    const { pool, hosts } = this.#context;
    this.#trace.remoteAddress = connection.address;
    try {
      const response = await exchange(connection.client, this.#request, this.#deadline);
      this.#trace.firstByteMs = response.firstByteMs;
      this.#trace.responseHeaders = response.headers;
      this.#trace.responseBody = response.body;
      if (response.isComplete) hosts.giveBack(this.#request.origin, connection);
      else pool.discard(connection);
      return response;
    } catch (cause) {
      pool.discard(connection);
      throw cause;
    }
  }

  /** A receiver may close an idle connection just when it is reused. The attempt then continues on a new one, once. */
  #nullIfStale(cause: unknown): null {
    if (cause instanceof TransportError && cause.reason === 'reset' && !this.#deadline.isExpired) return null;
    throw cause;
  }

  #report(result: PostResult): PostReport {
    return { ...this.#trace, result, durationMs: performance.now() - this.#startedAt };
  }
}

/** The report for a URL that the rules refuse; nothing was sent. */
export function forbiddenReport(): PostReport {
  return { ...emptyTrace(), result: transportResult(forbiddenAddress()), durationMs: 0 };
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
