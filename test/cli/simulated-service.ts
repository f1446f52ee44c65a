import { createHash } from 'node:crypto';
import { UNLIMITED_MEMORY } from '../../src/http/route.ts';
import { newId } from '../../src/rules/ids.ts';
import { streamAccount } from '../../src/stream/account-stream.ts';
import type { StreamRuntime, Subscription } from '../../src/stream/changes.ts';
import { JoinedReads } from '../../src/stream/joined-reads.ts';
import type { Row, Source } from '../../src/stream/source.ts';
import type { ManualClock } from '../fixtures/manual-clock.ts';
import type { Random } from '../fixtures/random.ts';

type EventRow = Row & { body: string };
type Connection = { cut(): void; silence(): void; end(): void };

/** `GET /v1/stream` of the service, with its own code, over rows in memory and a simulated clock. */
export class SimulatedService {
  readonly clock: ManualClock;
  /** Bodies by event id. */
  readonly committed = new Map<string, string>();
  connections = 0;
  readonly #random: Random;
  readonly #rows: EventRow[] = [];
  /** The starts of the transactions that run. */
  readonly #running = new Set<{ startMs: number }>();
  readonly #open = new Set<Connection>();
  readonly #waiting = new Set<() => void>();
  #isUp = true;

  constructor(clock: ManualClock, random: Random) {
    this.clock = clock;
    this.#random = random;
  }

  /** Commits events in transactions that overlap: some long after others that began later. */
  async emit(count: number): Promise<void> {
    const transactions: Promise<void>[] = [];
    for (let left = count; left > 0; ) {
      const size = Math.min(left, 1 + this.#random.integer(20));
      left -= size;
      transactions.push(this.#transaction(size));
      await this.clock.sleep(this.#random.integer(5_000));
    }
    await Promise.all(transactions);
  }

  async #transaction(size: number): Promise<void> {
    const transaction = { startMs: this.clock.now() };
    this.#running.add(transaction);
    const rows: EventRow[] = [];
    for (let i = 0; i < size; i++) {
      rows.push(this.#makeEvent());
      await this.clock.sleep(this.#random.integer(20));
    }
    await this.clock.sleep(this.#random.next() < 0.1 ? this.#random.integer(40_000) : this.#random.integer(300));
    this.#running.delete(transaction);
    for (const row of rows) this.committed.set(row.id, row.body);
    this.#rows.push(...rows);
    this.#rows.sort((left, right) => left.atMs - right.atMs || (left.id < right.id ? -1 : 1));
    this.#wakeAll();
  }

  #makeEvent(): EventRow {
    const atMs = this.clock.now();
    const at = new Date(atMs).toISOString();
    const id = newId(
      'evt',
      atMs,
      Uint8Array.from({ length: 10 }, () => this.#random.integer(256)),
    );
    const body = `{"id":"${id}","type":"transcription.completed","created_at":"${at}","metadata":{\n"a": 1 },"data":{}}`;
    return { at, id, atMs, body };
  }

  readonly fetch: typeof fetch = async (input, init) => {
    const url = new URL(String(input));
    if (!this.#isUp) throw new TypeError('fetch failed', { cause: { code: 'ECONNREFUSED' } });
    const after = url.searchParams.get('after') ?? 'now';
    return new Response(this.#connect(after, init?.signal ?? null), {
      headers: { 'content-type': 'text/event-stream' },
    });
  };

  cutConnections(): void {
    for (const connection of this.#open) connection.cut();
  }

  /** Nothing comes any more, and nobody is told. */
  silenceConnections(): void {
    for (const connection of this.#open) connection.silence();
  }

  /** @param how  `stop` says goodbye */
  async restart(how: 'stop' | 'kill', awayMs: number): Promise<void> {
    this.#isUp = false;
    for (const connection of this.#open) how === 'stop' ? connection.end() : connection.cut();
    await this.clock.sleep(awayMs);
    this.#isUp = true;
  }

  #connect(after: string, signal: AbortSignal | null): ReadableStream<Uint8Array> {
    this.connections += 1;
    const cut = new AbortController();
    const state = { isSilent: false, isClosed: false };
    const frames = streamAccount(
      { ...this.#runtime(), memory: UNLIMITED_MEMORY },
      this.#order(after),
      this.#subscribe(state),
      cut.signal,
    );
    const encoder = new TextEncoder();
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const connection: Connection = {
      cut: () => {
        this.#open.delete(connection);
        cut.abort();
        controller.error(new TypeError('terminated'));
      },
      silence: () => {
        this.#open.delete(connection);
        state.isSilent = true;
      },
      end: () => {
        state.isClosed = true;
        this.#wakeAll();
      },
    };
    this.#open.add(connection);
    signal?.addEventListener('abort', () => connection.cut());
    return new ReadableStream<Uint8Array>({
      start: (given) => {
        controller = given;
      },
      pull: async () => {
        const { done, value } = await frames.next();
        if (state.isSilent) await new Promise(() => undefined);
        if (cut.signal.aborted) return;
        if (!done) return controller.enqueue(encoder.encode(value));
        this.#open.delete(connection);
        controller.close();
      },
      cancel: () => {
        this.#open.delete(connection);
        cut.abort();
      },
    });
  }

  #runtime(): StreamRuntime {
    const horizon = () => {
      const nowMs = this.clock.now();
      return { nowMs, startMs: Math.min(nowMs, ...[...this.#running].map(({ startMs }) => startMs)) };
    };
    return { db: { rows: async () => [horizon()] }, clock: this.clock } as unknown as StreamRuntime;
  }

  #order(after: string) {
    const found = this.#rows.find(({ id }) => id === after);
    const fromMs = found?.atMs ?? Date.parse(after);
    const start = { fromMs, isNow: false, gap: null, oldestId: this.#rows[0]?.id ?? null };
    return {
      sources: [this.#source()],
      reads: new JoinedReads(),
      start,
      hello: { account: 'acct_1', version: '1.2.3' },
    };
  }

  #source(): Source<EventRow> {
    return {
      name: 'events',
      page: async (after, limit) => {
        const afterMs = Date.parse(after.at);
        const isAfter = ({ atMs, id }: EventRow) => atMs > afterMs || (atMs === afterMs && id > after.id);
        return this.#rows.filter(isAfter).slice(0, limit);
      },
      keyOf: ({ id }) => id,
      async *frames(rows) {
        for (const row of rows) yield { row, frame: { event: 'event', id: row.id, data: dataOf(row) } };
      },
    };
  }

  #subscribe(state: { isClosed: boolean }): Subscription {
    return {
      next: () => new Promise((resolve) => this.#waiting.add(resolve)),
      taken: () => undefined,
      isClosed: () => state.isClosed,
      [Symbol.dispose]: () => undefined,
    };
  }

  #wakeAll(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

function dataOf({ id, at, body }: EventRow) {
  const sha256 = createHash('sha256').update(body).digest('hex');
  return { id, type: 'transcription.completed', created_at: at, sha256, body };
}
