import { setImmediate as nextTurn } from 'node:timers/promises';
import { isDatabaseAway } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import type { AnswerMemory } from '../http/route.ts';
import { waitAtMost } from '../platform/clock.ts';
import { writeJson } from '../platform/json.ts';
import { BOUNDS } from '../rules/bounds.ts';
import type { StreamRuntime, Subscription } from './changes.ts';
import { type Horizon, readHorizon } from './horizon-store.ts';
import type { JoinedReads } from './joined-reads.ts';
import type { Position } from './position.ts';
import { type Frame, markSeen, mergeByTime, type Row, Seen, type Source, unseenRows } from './source.ts';

export type StreamOrder = {
  // biome-ignore lint/suspicious/noExplicitAny: sources of rows of several shapes
  sources: Source<any>[];
  reads: JoinedReads;
  start: Position;
  /** The data of the frame `hello`. */
  hello: Record<string, unknown>;
};

// Below the 60 s after which proxies commonly close an idle connection.
const KEEP_ALIVE_MS = 15_000;
const RECONNECT_AFTER_MS = 2_000;
// The time of a row may be earlier than the start of its transaction:
// a worker reads the time of an end, then writes it.
const MARGIN_MS = BOUNDS.streamMarginMs;
// Of a frame while its client does not read: the body as bytes, as text, within the frame, and in the buffer of the
// socket.
const HELD_PER_CHARACTER = 4;
// 1 ms of writing.
const CHARACTERS_PER_TURN = 128 * 1024;
// Between two reads of one stream.
const PAUSE_MS = 200;

/**
 * An account's changes as server-sent events, until `signal` aborts or the process stops. Each row is sent at least
 * once, in the order of their times but for `MARGIN_MS`: rows become visible in the order of their commits, so each
 * read begins that long before the horizon of the last one, and leaves out what was sent.
 * Reads as fast as the client takes frames.
 */
export async function* streamAccount(
  runtime: StreamRuntime & { memory: AnswerMemory },
  order: StreamOrder,
  subscription: Subscription,
  signal: AbortSignal,
): AsyncGenerator<string> {
  using _subscription = subscription;
  const stream = new AccountStream(runtime, order);
  const turns = new Turns();
  yield `retry: ${RECONNECT_AFTER_MS}\n\n`;
  for await (const text of stream.run(subscription, signal)) {
    using held = holdFrame(runtime.memory, text);
    // The client connects again, and continues here.
    if (held === null) return;
    yield text;
    subscription.taken();
    await turns.sent(text.length);
  }
  yield frameText({ event: 'bye', id: null, data: { reason: signal.aborted ? 'key_ended' : 'stopping' } });
}

/**
 * Lets other requests run between the frames of a long page, which are all written at once while the socket takes them.
 */
class Turns {
  #length = 0;

  async sent(length: number): Promise<void> {
    this.#length += length;
    if (this.#length < CHARACTERS_PER_TURN) return;
    this.#length = 0;
    await nextTurn();
  }
}

/** Counts a frame until the client has taken it. Null where there is no memory for it. */
function holdFrame(memory: AnswerMemory, text: string): Disposable | null {
  try {
    return memory.hold(HELD_PER_CHARACTER * text.length);
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

class AccountStream {
  readonly #runtime: StreamRuntime;
  readonly #order: StreamOrder;
  readonly #seen = new Seen();
  readonly #marginMs: number;
  #fromMs: number;

  constructor(runtime: StreamRuntime, order: StreamOrder) {
    this.#runtime = runtime;
    this.#order = order;
    this.#marginMs = runtime.marginMs ?? MARGIN_MS;
    this.#fromMs = order.start.fromMs - this.#marginMs;
  }

  async *run(subscription: Subscription, signal: AbortSignal): AsyncGenerator<string> {
    const { clock } = this.#runtime;
    const isOver = () => signal.aborted || subscription.isClosed();
    yield* this.#begin();
    while (!isOver()) {
      const changed = subscription.next();
      for await (const text of this.#read()) {
        yield text;
        if (isOver()) return;
      }
      if (!(await waitAtMost(clock, changed, KEEP_ALIVE_MS, signal))) yield ': keep-alive\n\n';
      else await clock.sleep(PAUSE_MS, signal);
    }
  }

  async *#begin(): AsyncGenerator<string> {
    const { start, hello, sources } = this.#order;
    let id: string | null = null;
    if (start.isNow) {
      const { startMs } = await readHorizon(this.#runtime.db);
      this.#fromMs = startMs - this.#marginMs;
      for (const source of sources) await markSeen(source, this.#fromMs, this.#seen);
      id = timeId(startMs);
    }
    yield frameText({ event: 'hello', id, data: hello });
    if (start.gap) yield frameText({ event: 'gap', id: null, data: start.gap });
  }

  /**
   * What came since the last read. A database that is away does not end the stream:
   * what it has is sent once it is back.
   */
  async *#read(): AsyncGenerator<string> {
    try {
      const { reads, sources } = this.#order;
      const horizon = await reads.horizon(this.#runtime.db);
      const nextFromMs = this.#positionAfter(horizon);
      const shared = sources.map((source) => reads.pagesAfter<Row>(horizon, source));
      const lists = shared.map((source) => unseenRows(source, this.#fromMs, this.#seen));
      for await (const { row, key, frame } of mergeByTime(lists)) {
        yield frameText({ ...frame, id: this.#resumeId(frame, row, horizon) });
        if (row.atMs >= nextFromMs) this.#seen.add(key, row.atMs);
        // Where the next read begins if this one fails.
        else this.#fromMs = row.atMs;
      }
      this.#fromMs = nextFromMs;
      this.#seen.forgetBefore(nextFromMs);
    } catch (cause) {
      if (!isDatabaseAway(cause)) throw cause;
    }
  }

  /**
   * Where the next read begins, in whole milliseconds, as the sources read. It goes back only with the database's
   * clock, whose later times would be left out.
   */
  #positionAfter({ nowMs, startMs }: Horizon): number {
    const latestMs = nowMs - this.#marginMs;
    return Math.floor(Math.max(startMs - this.#marginMs, Math.min(this.#fromMs, latestMs)));
  }

  /**
   * Where a client goes on that has this frame: all rows of earlier times were sent, but for those of transactions that
   * still run. The stream begins `marginMs` before this place; half of it is for the writes that are late.
   */
  #resumeId(frame: Frame, { atMs }: Row, { startMs }: Horizon): string {
    if (frame.id !== null && atMs - startMs <= this.#marginMs / 2) return frame.id;
    return timeId(Math.min(atMs, startMs));
  }
}

function timeId(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

function frameText({ event, id, data }: Frame): string {
  return `event: ${event}\n${id === null ? '' : `id: ${id}\n`}data: ${writeJson(data)}\n\n`;
}
