import type { PostResult } from '../../src/rules/webhooks/delivery-outcome.ts';
import type { PostReport } from '../../src/webhooks/http-client/attempt.ts';
import type { Poster, PosterOptions, PostRequest } from '../../src/webhooks/http-client/post.ts';
import type { Actor, Simulator } from './simulator.ts';

export const RECEIVER_MODES = ['well', 'failing', 'hanging', 'resetting', 'losing'] as const;
/**
 * How a receiver answers: 2xx, 500, never, a reset before it reads the body, or a reset after it has handled the event.
 */
export type ReceiverMode = (typeof RECEIVER_MODES)[number];

/** One request, whether a receiver read it or not. */
export type SentRequest = {
  attemptId: string;
  slot: string;
  /** The process that sent it, when it did, and the database's time then. */
  holder: string;
  sentAtMs: number;
  sentDatabaseMs: number;
  /** Its process stopped and did not wait for the answer. */
  isCutOff: boolean;
};

/** One request that a receiver read: the same object. */
export type Arrival = SentRequest & {
  /** True time, and what the database's clock showed then. */
  atMs: number;
  databaseMs: number;
  /** When the receiver had answered, or its connection was closed. */
  untilMs: number;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** What the receiver answered; null for nothing. */
  status: number | null;
  /** The answer did not come back. */
  isAnswerLost: boolean;
};

export type Receivers = {
  sent: SentRequest[];
  arrivals: Arrival[];
  /** The mode of the receiver at each URL; a new receiver answers 2xx. */
  modes: Map<string, ReceiverMode>;
  /** The longest time that a receiver takes for an answer. */
  answerMs: number;
  /** Probability that a deliverer freezes past its lease during an attempt, which the random freezes seldom hit. */
  freezes: number;
  frozen(): number;
  /** The network of one deliverer. */
  posterFor(actor: Actor): (options: PosterOptions) => Poster;
};

const NETWORK_MS = 60;

export function openReceivers(simulator: Simulator, databaseNowMs: () => number): Receivers {
  const sent: SentRequest[] = [];
  const arrivals: Arrival[] = [];
  const modes = new Map<string, ReceiverMode>();
  let frozen = 0;
  // The next attempt at a frozen deliverer's delivery is answered slowly, so that the late result arrives before it.
  const slow = new Set<string>();

  function freeze(actor: Actor, eventId: string): void {
    if (simulator.random.next() >= receivers.freezes) return;
    frozen++;
    slow.add(eventId);
    actor.frozenUntilMs = simulator.nowMs() + 10_000 + simulator.random.next() * 3_000;
  }

  function arrive({ url, headers, body }: PostRequest, request: SentRequest): PostResult | null {
    const mode = modes.get(url) ?? 'well';
    const status = statusOf(mode);
    if (mode !== 'resetting') {
      const times = { atMs: simulator.nowMs(), databaseMs: databaseNowMs(), untilMs: Number.POSITIVE_INFINITY };
      const answer = { status, isAnswerLost: mode === 'losing' };
      arrivals.push(Object.assign(request, { ...times, ...answer, url, headers, body }));
    }
    if (mode === 'hanging') return null;
    return mode === 'losing' || status === null ? CONNECTION_RESET : { kind: 'answered', status };
  }

  const receivers: Receivers = {
    sent,
    arrivals,
    modes,
    answerMs: NETWORK_MS,
    freezes: 0,
    frozen: () => frozen,
    posterFor: (actor) => (options) => {
      const open = new Map<(report: PostReport) => void, SentRequest>();
      // The connections of the process are closed.
      const endAll = () => {
        for (const arrival of arrivals)
          if (arrival.holder === actor.holder) arrival.untilMs = Math.min(arrival.untilMs, simulator.nowMs());
      };
      actor.onDeath.push(async () => endAll());
      return {
        post(request) {
          const entry = sentRequest(request, actor, { atMs: simulator.nowMs(), databaseMs: databaseNowMs() });
          sent.push(entry);
          return new Promise((resolve) => {
            const end = (result: PostResult) => {
              if (open.delete(resolve)) resolve(reportOf(result));
            };
            open.set(resolve, entry);
            simulator.after(actor, simulator.random.next() * NETWORK_MS, () => {
              if (!open.has(resolve)) return;
              const eventId = request.headers['X-Service-Event-Id']!;
              const longestMs = slow.has(eventId) ? options.timeoutMs : receivers.answerMs;
              const result = arrive(request, entry);
              freeze(actor, eventId);
              const delayMs = result ? simulator.random.next() * longestMs : options.timeoutMs;
              const arrival = arrivals.at(-1);
              if (arrival?.untilMs === Number.POSITIVE_INFINITY) arrival.untilMs = simulator.nowMs() + delayMs;
              simulator.after(actor, delayMs, () => end(result ?? TIMED_OUT));
            });
          });
        },
        close() {
          endAll();
          for (const [resolve, entry] of open) {
            entry.isCutOff = true;
            resolve(reportOf(CONNECTION_RESET));
          }
          open.clear();
        },
      };
    },
  };
  return receivers;
}

function sentRequest(
  { headers }: PostRequest,
  { slot, holder }: Actor,
  { atMs, databaseMs }: { atMs: number; databaseMs: number },
): SentRequest {
  const attemptId = headers['X-Service-Delivery-Id']!;
  return { attemptId, slot, holder, sentAtMs: atMs, sentDatabaseMs: databaseMs, isCutOff: false };
}

/** Null without an answer. */
function statusOf(mode: ReceiverMode): number | null {
  if (mode === 'well' || mode === 'losing') return 204;
  return mode === 'failing' ? 500 : null;
}

const CONNECTION_RESET: PostResult = {
  kind: 'transport_error',
  reason: 'reset',
  message: 'The connection was broken off.',
};
const TIMED_OUT: PostResult = { kind: 'transport_error', reason: 'timeout', message: 'No answer came in time.' };

function reportOf(result: PostResult): PostReport {
  const phases = { durationMs: 1, dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null };
  return {
    ...phases,
    result,
    remoteAddress: '93.184.216.34',
    responseHeaders: null,
    responseBody: null,
    // The simulation leaves out the fields that only the log uses.
  } as PostReport;
}
