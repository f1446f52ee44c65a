import tls from 'node:tls';
import type { AllowedTarget } from '../../config/values.ts';
import type { WebhookTarget } from '../../rules/network/url-guard.ts';
import { evaluateAddresses, parseWebhookUrl } from '../../rules/network/url-guard.ts';
import type { PostResult } from '../../rules/webhooks/delivery-outcome.ts';
import type { Lookup } from '../dns/lookup.ts';
import type { RunningLookup } from '../dns/resolve.ts';
import { openResolver } from '../dns/resolve.ts';
import { connectTls } from './connect.ts';
import type { Connection } from './connections.ts';
import { openConnectionPool } from './connections.ts';
import type { Deadline } from './deadlines.ts';
import { openDeadlineWheel } from './deadlines.ts';
import type { Answer } from './exchange.ts';
import { exchange } from './exchange.ts';
import { openHandshakeGate } from './handshake-limiter.ts';
import type { Turn } from './per-host-limiter.ts';
import { openOriginTurns } from './per-host-limiter.ts';
import { codeOf, TransportError } from './transport-error.ts';
import { readProxy } from './tunnel.ts';

export type PostRequest = {
  url: string;
  /** Look-ups of names take turns by account. */
  accountId: string;
  headers: Record<string, string>;
  body: Buffer;
  /** The receiver has been failing, or is new: it waits for a connection behind those that work. */
  isDegraded?: boolean;
};

/** What became of one POST, with phases in ms; a phase that did not take place is null. */
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

export type Poster = {
  /** One attempt; never rejects. Null: it was not begun, because no turn to connect or to look its name up came in time. */
  post(request: PostRequest): Promise<PostReport | null>;
  /** Breaks off whatever is under way. */
  close(): void;
};

export type PosterOptions = {
  /** For a whole attempt, from the first byte of name resolution. */
  timeoutMs: number;
  /** How long an attempt may wait to begin, not counted in its time. */
  maxWaitMs: number;
  allowedTargets: AllowedTarget[];
  /** Certificates to trust instead of Node's own and NODE_EXTRA_CA_CERTS. */
  ca?: string | undefined;
  maxHandshakes?: number;
  lookup?: Lookup | undefined;
  /** CONNECT proxy that all connections go through, as http:// or https:// URL. */
  proxyUrl?: string | null | undefined;
};

const MAX_HANDSHAKES = 100;
const MAX_KNOWN_DESTINATIONS = 10_000;
// Longer would outlast the lease, after the waits for a host and for a handshake.
const MAX_LOOKUP_WAIT_MS = 2_000;

type Trace = Omit<PostReport, 'result' | 'durationMs'>;
type Place = { kept: Connection | null; leave: () => void };
/** Addresses of an IP literal are known; the others are being looked up. */
type Step = Place & { lookup: RunningLookup | null; deadline: Deadline; trace: Trace };
type Destination = { target: WebhookTarget; origin: string; path: string };
type Aim = PostRequest & Destination;

/**
 * Sends signed bodies over HTTPS to addresses that were checked in this very attempt, through the egress proxy where there
 * is one. No redirect is followed, no other proxy is read from the environment, and one deadline covers all of an attempt.
 */
export function openPoster(options: PosterOptions): Poster {
  const wheel = openDeadlineWheel(Math.max(options.timeoutMs, options.maxWaitMs));
  const gate = openHandshakeGate({
    places: options.maxHandshakes ?? MAX_HANDSHAKES,
    maxWaitMs: options.maxWaitMs,
    wheel,
  });
  const pool = openConnectionPool();
  const turns = openOriginTurns({ pool, wheel, maxWaitMs: options.maxWaitMs });
  const destinations = new Map<string, Destination | null>();
  let isClosed = false;
  const resolver = openResolver(options.lookup);
  const proxy = options.proxyUrl ? readProxy(options.proxyUrl) : null;
  // One context for all connections: making one reads every trusted certificate.
  const secureContext = tls.createSecureContext({ minVersion: 'TLSv1.2', ...(options.ca ? { ca: options.ca } : {}) });

  async function post(request: PostRequest): Promise<PostReport | null> {
    const destination = findDestination(request.url);
    if (!destination) return report(emptyTrace(), brokenOf(forbidden()), performance.now());
    const { origin } = destination;
    const turn = await turns.enter(origin);
    if (!turn) return null;
    try {
      const place = turn.kept
        ? { kept: turn.kept, leave: turn.connected }
        : await findPlace(origin, turn, request.isDegraded);
      return place && (await resolveAndBegin({ ...request, ...destination }, place));
    } finally {
      turn.leave();
    }
  }

  async function resolveAndBegin(aim: Aim, place: Place): Promise<PostReport | null> {
    const { target, accountId } = aim;
    if (target.literal !== null) return await begin(aim, place, null);
    const maxWaitMs = Math.min(options.maxWaitMs, MAX_LOOKUP_WAIT_MS);
    const lookup = await resolver.enter(target.hostname, { accountId, maxWaitMs });
    if (lookup) return await begin(aim, place, lookup);
    if (place.kept) turns.giveBack(aim.origin, place.kept);
    place.leave();
    return null;
  }

  async function begin(aim: Aim, place: Place, lookup: RunningLookup | null): Promise<PostReport> {
    const trace = emptyTrace();
    const deadline = wheel.start(options.timeoutMs);
    const startedAt = performance.now();
    try {
      const answer = await attempt(aim, { ...place, lookup, deadline, trace });
      return report(trace, { kind: 'answered', status: answer.status }, startedAt);
    } catch (cause) {
      return report(trace, brokenOf(cause), startedAt);
    } finally {
      deadline.cancel();
      place.leave();
    }
  }

  /** Where a URL leads; null when its form is refused. Its addresses are judged at every attempt, its form once. */
  function findDestination(url: string): Destination | null {
    const known = destinations.get(url);
    if (known !== undefined) return known;
    const parsed = parseWebhookUrl(url, options.allowedTargets);
    const destination = parsed.kind === 'ok' ? destinationOf(parsed.target) : null;
    if (destinations.size >= MAX_KNOWN_DESTINATIONS) destinations.clear();
    destinations.set(url, destination);
    return destination;
  }

  /** Leave to make a connection, or one that came back; null when neither came in time. */
  async function findPlace(origin: string, turn: Turn, isDegraded = false): Promise<Place | null> {
    const leaveGate = isClosed ? null : await gate.enter(isDegraded);
    if (!leaveGate) return null;
    const leave = () => {
      leaveGate();
      turn.connected();
    };
    // Meanwhile others may have given one back.
    const kept = pool.take(origin);
    if (kept) leave();
    return { kept, leave };
  }

  async function attempt(aim: Aim, step: Step): Promise<Answer> {
    const addresses = await findAddresses(aim.target, step).catch((cause) => {
      if (step.kept) pool.discard(step.kept);
      throw cause;
    });
    if (step.kept && addresses.includes(step.kept.address)) {
      const answer = await exchangeOn(step.kept, aim, step).catch(nullWhenStale(step.deadline));
      if (answer) return answer;
    } else if (step.kept) {
      // The name has moved: what it led to before was judged then, not now.
      pool.discard(step.kept);
    }
    return await exchangeOn(await connect(aim, addresses, step), aim, step);
  }

  async function findAddresses(target: WebhookTarget, { lookup, deadline, trace }: Step): Promise<string[]> {
    const startedAt = performance.now();
    const addresses = lookup ? await answerBefore(deadline, lookup) : [target.hostname];
    if (lookup) trace.dnsMs = performance.now() - startedAt;
    const verdict = evaluateAddresses({ target, addresses, allowed: options.allowedTargets });
    if (verdict.kind === 'refused') throw forbidden();
    return addresses;
  }

  async function connect(aim: Aim, addresses: string[], step: Step): Promise<Connection> {
    const { target, origin } = aim;
    const connected = await connectTls({
      addresses,
      port: target.port,
      servername: target.literal === null ? target.hostname : null,
      secureContext,
      proxy,
      deadline: step.deadline,
      isAllowedPeer: (address) => isAllowedPeer(target, address),
    });
    step.leave();
    step.trace.connectMs = connected.connectMs;
    step.trace.tlsMs = connected.tlsMs;
    return pool.adopt(origin, connected.address, connected.socket);
  }

  function isAllowedPeer(target: WebhookTarget, address: string): boolean {
    return evaluateAddresses({ target, addresses: [address], allowed: options.allowedTargets }).kind === 'ok';
  }

  async function exchangeOn(connection: Connection, aim: Aim, { deadline, trace }: Step): Promise<Answer> {
    trace.remoteAddress = connection.address;
    try {
      const request = { path: aim.path, headers: aim.headers, body: aim.body };
      const answer = await exchange(connection.client, request, deadline);
      trace.firstByteMs = answer.firstByteMs;
      trace.responseHeaders = answer.headers;
      trace.responseBody = answer.body;
      if (answer.isComplete) turns.giveBack(aim.origin, connection);
      else pool.discard(connection);
      return answer;
    } catch (cause) {
      pool.discard(connection);
      throw cause;
    }
  }

  return {
    post,
    close() {
      isClosed = true;
      gate.close();
      resolver.close();
      wheel.expireAll();
      pool.close();
    },
  };
}

function destinationOf(target: WebhookTarget): Destination {
  const { origin, pathname, search } = new URL(target.href);
  return { target, origin, path: pathname + search };
}

function answerBefore(deadline: Deadline, { addresses }: RunningLookup): Promise<string[]> {
  return new Promise((resolve, reject) => {
    deadline.onOver = () =>
      reject(new TransportError('dns', 'The name was not resolved within the time for an attempt.'));
    addresses.then(resolve, (cause) => {
      reject(new TransportError('dns', `The name could not be resolved (${codeOf(cause)}).`, { cause }));
    });
  });
}

/**
 * A receiver may close a kept connection in the very moment we use it. That is no failure of its: the attempt goes on
 * with a fresh connection, once.
 */
function nullWhenStale(deadline: Deadline): (cause: unknown) => null {
  return (cause) => {
    if (cause instanceof TransportError && cause.reason === 'reset' && !deadline.isOver) return null;
    throw cause;
  };
}

function brokenOf(cause: unknown): PostResult {
  if (!(cause instanceof TransportError)) throw cause;
  return { kind: 'transport_error', reason: cause.reason, message: cause.message };
}

/** Says no more than that: which rule, or which address, would map the operator's network. */
function forbidden(): TransportError {
  return new TransportError('forbidden_address', 'The receiver is at an address that webhooks may not point to.');
}

function emptyTrace(): Trace {
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

function report(trace: Trace, result: PostResult, startedAt: number): PostReport {
  return { ...trace, result, durationMs: performance.now() - startedAt };
}
