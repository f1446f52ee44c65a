import type { AccountStreamEvents } from '../api.ts';
import type { EventType } from '../wire.ts';
import { VerbatimError } from './http/errors.ts';
import { parseData } from './http/read-answer.ts';
import type { RequestOptions } from './http/settings.ts';
import { type Transport, throwIfAborted } from './http/transport.ts';

type Names = keyof AccountStreamEvents;

/** A frame of the stream of an account. `resumeId`: where to go on, as `after`, once this frame is handled. */
export type StreamFrame = {
  [Type in Names]: { type: Type; data: AccountStreamEvents[Type]; resumeId: string | null };
}[Names];

/** `connected`: frames come from now on; `lost`: the next connection is made after `retryInMs`. */
export type ConnectionState = { state: 'connected' } | { state: 'lost'; error: VerbatimError; retryInMs: number };

export type FollowOptions = RequestOptions & {
  /** Where to begin: the `resumeId` of the last frame, an event's id, a time, or `now`, the default. */
  after?: string | undefined;
  /** Types of the events. Default: all */
  types?: readonly EventType[] | undefined;
  onConnection?: ((state: ConnectionState) => void) | undefined;
};

export type StreamOptions = FollowOptions & {
  /** Default: all that the key may read. */
  topics?: readonly ('events' | 'jobs' | 'deliveries')[] | undefined;
};

const LONGEST_PAUSE_MS = 30_000;
const MAX_KNOWN = 10_000;

/**
 * The frames of the stream of an account, for ever: it connects again after each cut, from where it was. At least once;
 * what comes again is dropped when it is one of the last 10,000.
 * @throws VerbatimError  when another attempt would not help: the key is revoked, lacks a scope, …
 */
export async function* followAccount(http: Transport, options: StreamOptions = {}): AsyncGenerator<StreamFrame> {
  const { after, types, topics, onConnection, ...rest } = options;
  const known = new Set<string>();
  const { clock } = http;
  const startedMs = clock.now();
  let lastId = after === undefined || after === 'now' ? null : after;
  // "now" is the start of this call, also when the first connections bring no frame.
  const pinStart = (serviceNowMs: number) => {
    lastId ??= new Date(serviceNowMs - (clock.now() - startedMs)).toISOString();
  };
  const onOpen = (headers: Headers) => pinStart(Date.parse(headers.get('date') ?? '') || clock.now());
  for (let failures = 0; ; failures++) {
    let lost: VerbatimError;
    try {
      const query = { topics, types, after: lastId };
      for await (const { event, id, data } of http.events('/v1/stream', { ...rest, query, onOpen })) {
        const frame = { type: event, data: parseData(data), resumeId: id ?? lastId } as StreamFrame;
        if (frame.type === 'hello') onConnection?.({ state: 'connected' });
        failures = 0;
        if (isNew(frame, known)) yield frame;
        // The consumer has taken the frame.
        lastId = frame.resumeId;
      }
      lost = new VerbatimError('The service ended the stream.');
    } catch (error) {
      if (!(error instanceof VerbatimError && error.isRetryable)) throw error;
      lost = error;
    }
    pinStart(clock.now());
    const backoffMs = Math.min(LONGEST_PAUSE_MS, 1_000 * 2 ** failures) * (1 - Math.random() / 4);
    const retryInMs = Math.max(backoffMs, lost.retryAfterMs ?? 0);
    onConnection?.({ state: 'lost', error: lost, retryInMs });
    await clock.sleep(retryInMs, rest.signal);
    throwIfAborted(rest.signal);
  }
}

/** Whether the frame is not one of the last ones. Remembers it. */
function isNew(frame: StreamFrame, known: Set<string>): boolean {
  const name = nameOf(frame);
  if (name === null) return true;
  if (known.has(name)) return false;
  known.add(name);
  if (known.size > MAX_KNOWN) known.delete(known.values().next().value!);
  return true;
}

/** What tells a frame from others; null for those that never come twice. */
function nameOf({ type, data }: StreamFrame): string | null {
  if (type === 'event' || type === 'delivery') return data.id;
  if (type === 'resend') return `resend ${data.delivery_id}`;
  return type === 'job' ? `${data.id} ${data.status}` : null;
}
