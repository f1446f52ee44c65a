import type { Database, Sql } from '../../src/db/database.ts';
import { makeId } from '../../src/platform/clock.ts';
import { composeEvent } from '../../src/webhooks/events/compose-event.ts';
import { type Random, randomFrom } from '../fixtures/random.ts';
import { framesOf, makeStreamAccount, openStreamNode, type StreamFrame } from '../fixtures/stream.ts';

type Account = Awaited<ReturnType<typeof makeStreamAccount>>;

/**
 * @property events     to be emitted
 * @property cuts       connections that the client ends
 * @property restarts   of the service: every second one without a last word
 */
export type CutsOrder = { events: number; cuts: number; restarts: number; seed: number };

export type CutsResult = {
  /** Emitted and committed, but never received. */
  lost: string[];
  received: number;
  duplicates: number;
  /** Received later than an event that is more than 10 s younger. */
  misplaced: string[];
  connections: number;
};

const WRITERS = 8;
// Transactions that wait at once: the others go on.
const MOST_HELD = 4;
const EVENTS_PER_TRANSACTION = 10;
// Events that the client has not yet received.
const MOST_AHEAD = 500;
const QUIET_MS = 20_000;
// Each connection begins with the events of this time; at the service's 10 s that would be all of them, 50 times.
const MARGIN_MS = 50;

/**
 * Emits events in parallel transactions, some of which are committed long after others that began later, while a client
 * follows the account's stream over connections that it cuts, of a service that is stopped, killed and started again.
 */
export async function followThroughCuts(db: Database, order: CutsOrder): Promise<CutsResult> {
  const account = await makeStreamAccount(db);
  const other = await makeStreamAccount(db);
  const random = randomFrom(order.seed);
  const progress = new Progress(order.events);
  const client = new Client(account, progress, random, order);
  await client.start(db);
  const writers = Array.from({ length: WRITERS }, (_, i) => {
    const own = randomFrom(order.seed * 100 + i);
    return write(db, i === 0 ? { account, other } : { account }, progress, own);
  });
  const following = client.follow(db);
  try {
    await Promise.all([following, ...writers]);
    return await following;
  } catch (cause) {
    // Otherwise transactions would wait for ever for a client that has gone, and the database could not be closed.
    progress.end();
    client.end();
    await Promise.allSettled([following, ...writers]);
    throw cause;
  }
}

/** What was committed, and how far the client is. */
class Progress {
  readonly total: number;
  readonly committed = new Set<string>();
  #begun = 0;
  #held = 0;
  #received = 0;
  #waiting: { received: number; resolve: () => void }[] = [];

  constructor(total: number) {
    this.total = total;
  }

  /** How many events to emit next, once the client has most of those before; 0 at the end. */
  async take(): Promise<number> {
    await this.#until(this.#begun - MOST_AHEAD);
    const taken = Math.min(EVENTS_PER_TRANSACTION, this.total - this.#begun);
    this.#begun += taken;
    return taken;
  }

  /** Waits until the client has so many more events, unless too many transactions wait, or few events are left. */
  async hold(more: number): Promise<void> {
    if (this.#held >= MOST_HELD || this.#received + more + MOST_HELD * 2 * EVENTS_PER_TRANSACTION > this.total) return;
    this.#held += 1;
    await this.#until(this.#received + more);
    this.#held -= 1;
  }

  /** Nothing more is emitted, and nobody waits. */
  end(): void {
    this.#begun = this.total;
    this.received(Number.POSITIVE_INFINITY);
  }

  received(count: number): void {
    this.#received = Math.max(this.#received, count);
    const due = this.#waiting.filter(({ received }) => received <= this.#received);
    this.#waiting = this.#waiting.filter((wait) => !due.includes(wait));
    for (const { resolve } of due) resolve();
  }

  #until(received: number): Promise<void> {
    if (received <= this.#received) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ received, resolve }));
  }
}

async function write(
  db: Database,
  { account, other }: { account: Account; other?: Account },
  progress: Progress,
  random: Random,
): Promise<void> {
  for (let count = await progress.take(); count > 0; count = await progress.take()) {
    const ids = await db.transaction(async (tx) => {
      // It waits for the client, which is slow on a busy machine.
      await tx.run({ text: 'set local idle_in_transaction_session_timeout = 0' });
      const made = await insertEvents(tx, account, count);
      if (other) await insertEvents(tx, other, 1);
      // Committed when the client has events that began later.
      if (random.next() < 0.1) await progress.hold(50 + random.integer(MOST_AHEAD / 2));
      return made;
    });
    for (const id of ids) progress.committed.add(id);
  }
}

/** In one statement: it is their reading that is tested. */
async function insertEvents(tx: Sql, account: Account, count: number): Promise<string[]> {
  const events = Array.from({ length: count }, () => {
    const jobId = makeId('job');
    const data = { job: { id: jobId, text: 'line\none' } };
    return composeEvent({ account, type: 'transcription.completed', jobId, data, metadata: null });
  });
  await tx.run({
    text: `
      insert into events (shard, id, account_id, type, job_id, body, created_at)
      select $1, id, $2, 'transcription.completed', job_id, body, created_at
      from unnest($3::text[], $4::text[], $5::bytea[], $6::timestamptz[]) as given (id, job_id, body, created_at)`,
    values: [
      account.shard,
      account.id,
      events.map(({ id }) => id),
      events.map(({ jobId }) => jobId),
      events.map(({ body }) => body),
      events.map(({ createdAt }) => createdAt),
    ],
  });
  return events.map(({ id }) => id);
}

class Client {
  readonly #account: Account;
  readonly #progress: Progress;
  readonly #random: Random;
  readonly #order: CutsOrder;
  readonly #received = new Map<string, number>();
  readonly #misplaced: string[] = [];
  readonly #ended = new AbortController();
  #node: Awaited<ReturnType<typeof openStreamNode>> | null = null;
  #lastId: string | null = null;
  #duplicates = 0;
  #connections = 0;
  #newestMs = 0;

  constructor(account: Account, progress: Progress, random: Random, order: CutsOrder) {
    this.#account = account;
    this.#progress = progress;
    this.#random = random;
    this.#order = order;
  }

  async start(db: Database): Promise<void> {
    this.#node = await openStreamNode(db, { marginMs: MARGIN_MS });
    // Everything is emitted after this time.
    this.#lastId = new Date().toISOString();
  }

  end(): void {
    this.#ended.abort();
  }

  async follow(db: Database): Promise<CutsResult> {
    try {
      return await this.#follow(db);
    } finally {
      await this.#node!.close();
    }
  }

  async #follow(db: Database): Promise<CutsResult> {
    const { cuts, restarts, events } = this.#order;
    const stops = cuts + restarts;
    let restarted = 0;
    for (let stop = 0; ; stop++) {
      const isLast = stop >= stops;
      // Half of the connections are short, so that the others are long. The last one takes about 40 % of the events.
      const mean = this.#random.next() < 0.5 ? 5 : Math.ceil((1.2 * events) / stops);
      const most = isLast ? Number.POSITIVE_INFINITY : 1 + this.#random.integer(2 * mean);
      await this.#read(most);
      if (isLast) break;
      if (this.#random.next() < restarts / stops) {
        if (restarted++ % 2 === 0) await this.#node!.close();
        else await this.#node!.kill();
        this.#node = await openStreamNode(db, { marginMs: MARGIN_MS });
      }
    }
    return {
      lost: [...this.#progress.committed].filter((id) => !this.#received.has(id)),
      received: this.#received.size,
      duplicates: this.#duplicates,
      misplaced: this.#misplaced,
      connections: this.#connections,
    };
  }

  /** Follows until so many new events have come, all have, or nothing comes for a while. */
  async #read(most: number): Promise<void> {
    const cut = new AbortController();
    const headers = { 'x-api-key': this.#account.key, 'last-event-id': this.#lastId! };
    const answer = await fetch(`${this.#node!.url}?topics=events`, {
      headers,
      signal: AbortSignal.any([cut.signal, this.#ended.signal]),
    });
    if (answer.status !== 200) throw new Error(`${answer.status}: ${await answer.text()}`);
    this.#connections += 1;
    const before = this.#received.size;
    let quiet = setTimeout(() => cut.abort(), QUIET_MS);
    try {
      for await (const frame of framesOf(answer.body!)) {
        if (frame.event === 'event') {
          clearTimeout(quiet);
          quiet = setTimeout(() => cut.abort(), QUIET_MS);
          this.#take(frame);
        }
        if (this.#received.size - before >= most || this.#received.size >= this.#order.events) break;
      }
    } catch (cause) {
      if (!cut.signal.aborted) throw cause;
    } finally {
      clearTimeout(quiet);
      cut.abort();
    }
  }

  #take({ id, data }: StreamFrame): void {
    this.#lastId = id;
    const atMs = Date.parse(data.created_at);
    if (this.#received.has(data.id)) this.#duplicates += 1;
    else if (atMs < this.#newestMs - 10_000) this.#misplaced.push(data.id);
    this.#received.set(data.id, atMs);
    this.#progress.received(this.#received.size);
    this.#newestMs = Math.max(this.#newestMs, atMs);
  }
}
