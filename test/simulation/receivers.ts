import type { PostResult } from '../../src/rules/webhooks/delivery-outcome.ts';
import type { PostReport } from '../../src/webhooks/http-client/attempt.ts';
import type { Poster, PosterOptions, PostRequest } from '../../src/webhooks/http-client/post.ts';
import type { Actor, Simulator } from './simulator.ts';

export const MOODS = ['well', 'failing', 'hanging', 'resetting', 'losing'] as const;
/** How a receiver answers: 2xx, 500, never, by breaking off before it has read, or after it has done its work. */
export type Mood = (typeof MOODS)[number];

/** One request as a receiver saw it. */
export type Arrival = {
  /** True time, and what the database's clock showed then. */
  atMs: number;
  databaseMs: number;
  slot: string;
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  /** What the receiver answered; null for nothing. */
  status: number | null;
  /** The answer did not come back. */
  isAnswerLost: boolean;
};

export type Receivers = {
  arrivals: Arrival[];
  /** How the receiver of this URL is; new ones are well. */
  moods: Map<string, Mood>;
  /** Probability that a deliverer freezes past its lease with an attempt under way: rare by chance alone. */
  freezes: number;
  frozen(): number;
  /** The network as one deliverer sees it. */
  posterFor(actor: Actor): (options: PosterOptions) => Poster;
};

const NETWORK_MS = 60;

export function openReceivers(simulator: Simulator, databaseNowMs: () => number): Receivers {
  const arrivals: Arrival[] = [];
  const moods = new Map<string, Mood>();

  let frozen = 0;
  // What a frozen deliverer has in hand is answered slowly to the next one, so that the late result comes in between.
  const slow = new Set<string>();

  function freeze(actor: Actor, eventId: string): void {
    if (simulator.random.next() >= receivers.freezes) return;
    frozen++;
    slow.add(eventId);
    actor.frozenUntilMs = simulator.nowMs() + 10_000 + simulator.random.next() * 3_000;
  }

  function arrive(actor: Actor, { url, headers, body }: PostRequest): PostResult | null {
    const mood = moods.get(url) ?? 'well';
    const status = mood === 'well' || mood === 'losing' ? 204 : mood === 'failing' ? 500 : null;
    if (mood !== 'resetting') {
      const times = { atMs: simulator.nowMs(), databaseMs: databaseNowMs() };
      arrivals.push({ ...times, slot: actor.slot, url, headers, body, status, isAnswerLost: mood === 'losing' });
    }
    if (mood === 'hanging') return null;
    return mood === 'losing' || status === null ? CONNECTION_RESET : { kind: 'answered', status };
  }

  const receivers: Receivers = {
    arrivals,
    moods,
    freezes: 0,
    frozen: () => frozen,
    posterFor: (actor) => (options) => {
      const open = new Set<(report: PostReport) => void>();
      return {
        post(request) {
          return new Promise((resolve) => {
            const end = (result: PostResult) => {
              if (open.delete(resolve)) resolve(reportOf(result));
            };
            open.add(resolve);
            simulator.after(actor, simulator.random.next() * NETWORK_MS, () => {
              if (!open.has(resolve)) return;
              const eventId = request.headers['X-Service-Event-Id']!;
              const longestMs = slow.has(eventId) ? options.timeoutMs : NETWORK_MS;
              const result = arrive(actor, request);
              freeze(actor, eventId);
              const delayMs = result ? simulator.random.next() * longestMs : options.timeoutMs;
              simulator.after(actor, delayMs, () => end(result ?? TIMED_OUT));
            });
          });
        },
        close() {
          for (const resolve of open) resolve(reportOf(CONNECTION_RESET));
          open.clear();
        },
      };
    },
  };
  return receivers;
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
    // What further fields a report has is the log's business, not the simulation's.
  } as PostReport;
}
