import pg from 'pg';
import { type Database, openDatabase, type Sql, type Statement } from '../../src/db/database.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import type { Random } from '../fixtures/random.ts';
import { SIMULATION_SCHEMA } from './schema.ts';
import type { Actor, Outcome, Simulator } from './simulator.ts';
import { SHARDS } from './smaller-limits.ts';

/** Probability of each fault of a statement or commit. */
export type DatabaseFaults = {
  /** The connection breaks before the statement arrives. */
  lost: number;
  /** The statement is executed, and the connection breaks before the answer. */
  unanswered: number;
  /** The answer is late. */
  late: number;
  /** A notification is not delivered. */
  notNotified: number;
  /** A commit arrives late, up to 15 s. */
  lateCommit: number;
  /** A deliverer freezes past its lease while the statement is executed. */
  freezes: number;
};

/** No faults. */
export const FAULTLESS: DatabaseFaults = {
  lost: 0,
  unanswered: 0,
  late: 0,
  notNotified: 0,
  lateCommit: 0,
  freezes: 0,
};

export type SimulatedPostgres = AsyncDisposable & {
  /** For statements of the simulation itself, which take no simulated time. */
  admin: Database;
  countWaiting(): Promise<number>;
  /** Empties all tables for the next seed. */
  clear(): Promise<void>;
  enter(simulator: Simulator): SimulatedServer;
};

export type SimulatedServer = {
  faults: DatabaseFaults;
  /** The number of faults so far. */
  faultCount(): number;
  clockOffsetMs: number;
  /** The longest way of a statement, an answer or a notification. */
  wayMs: number;
  /** The database of one actor. */
  open(actor: Actor): Database;
  /** Closes all connections, and refuses new connections for a while. */
  goAway(forMs: number): Promise<void>;
};

type Session = { client: pg.PoolClient; isClosed: boolean };

const LATE_MS = 4_000;
/** A commit with this fault arrives within so long. */
export const LATE_COMMIT_MS = 15_000;
const TABLES = `
  jobs, job_queues, webhooks, events, deliveries, deliverers, attempts, ledger,
  job_usage, job_metadata, live_sessions, live_chunks, transcript_chunks, accounts, api_keys, sessions,
  audit_log, sim.notifications, sim.changes`;

/** A real PostgreSQL with a simulated clock, network and notifications. */
export async function openSimulatedPostgres(): Promise<SimulatedPostgres> {
  const test = await openTestDatabase();
  await test.run({ text: SIMULATION_SCHEMA });
  const admin = openDatabase(urlFor(test.url, 'simulation'), { maxConnections: 4 });
  const pools = new Map<string, pg.Pool>();
  const poolOf = (slot: string): pg.Pool => {
    const known = pools.get(slot);
    if (known) return known;
    const pool = new pg.Pool({ connectionString: urlFor(test.url, slot), max: 20 });
    pool.on('error', () => undefined);
    pool.on('connect', (client) => client.on('error', () => undefined));
    pools.set(slot, pool);
    return pool;
  };
  const watcher = new pg.Client({ connectionString: test.url });
  await watcher.connect();
  const tables = await existing(test);

  return {
    admin,
    async countWaiting() {
      const found = await watcher.query(
        `select count(distinct l.pid) as waiting
        from pg_locks l
        join pg_stat_activity a on a.pid = l.pid
        where not l.granted and a.datname = current_database()`,
      );
      return Number(found.rows[0].waiting);
    },
    async clear() {
      // A transaction that the seed before left open would lock the tables.
      await admin.rows({
        text: `select pg_terminate_backend(pid, 5000)
          from pg_stat_activity
          where datname = current_database() and state like 'idle in transaction%'`,
      });
      await admin.run({ text: `truncate delivery_shards, ${tables}` });
      // In one order: statements update them in the order in which they lie in the table.
      await admin.run({
        text: 'insert into delivery_shards (shard) select generate_series(0, $1::int - 1)',
        values: [SHARDS],
      });
    },
    enter: (simulator) => new FaultyServer(simulator, admin, poolOf),
    async [Symbol.asyncDispose]() {
      await watcher.end();
      await admin.close();
      for (const pool of pools.values()) await pool.end();
      await test[Symbol.asyncDispose]();
    },
  };
}

async function existing(sql: Sql): Promise<string> {
  const rows = await sql.rows<{ name: string }>({
    text: `select tablename as name from pg_tables where tablename in ('job_pieces', 'idempotency_keys')`,
  });
  return [TABLES, ...rows.map((row) => row.name)].join(', ');
}

function urlFor(testUrl: string, slot: string): string {
  const url = new URL(testUrl);
  url.searchParams.set('application_name', slot);
  url.searchParams.set('options', '-c search_path=sim,pg_catalog,public -c synchronous_commit=off');
  return url.href;
}

type Listening = { actor: Actor; channel: string; onNotify: (payload: string) => void };

class FaultyServer implements SimulatedServer {
  faults = FAULTLESS;
  clockOffsetMs = 0;
  wayMs = 3;
  readonly #simulator: Simulator;
  readonly #random: Random;
  readonly #admin: Sql;
  readonly #poolOf: (slot: string) => pg.Pool;
  readonly #listeners = new Set<Listening>();
  readonly #sessions = new Set<Session & { actor: Actor }>();
  #clockShowsMs = Number.NaN;
  #awayUntilMs = 0;
  #faultCount = 0;

  constructor(simulator: Simulator, admin: Sql, poolOf: (slot: string) => pg.Pool) {
    this.#simulator = simulator;
    this.#random = simulator.random;
    this.#admin = admin;
    this.#poolOf = poolOf;
  }

  faultCount(): number {
    return this.#faultCount;
  }

  async goAway(forMs: number): Promise<void> {
    this.#awayUntilMs = this.#simulator.nowMs() + forMs;
    this.#faultCount++;
    for (const session of this.#sessions) await this.#breakOff(session);
  }

  open(actor: Actor): Database {
    actor.onDeath.push(async () => {
      for (const session of this.#sessions) if (session.actor === actor) await this.#breakOff(session);
      for (const listener of this.#listeners) if (listener.actor === actor) this.#listeners.delete(listener);
    });
    return {
      ...this.#sqlOver(actor, null),
      notify: (channel, payload) => this.#notify(actor, channel, payload),
      transaction: (work) => this.#transact(actor, work),
      listen: async (channel, onNotify) => {
        const listener = { actor, channel, onNotify };
        this.#listeners.add(listener);
        return async () => void this.#listeners.delete(listener);
      },
      close: async () => undefined,
    };
  }

  #notify(actor: Actor, channel: string, payload: string): void {
    const statement = { text: 'select pg_notify($1, $2)', values: [channel, payload] };
    void this.#sqlOver(actor, null)
      .run(statement)
      .catch(() => undefined);
  }

  #sqlOver(actor: Actor, session: Session | null): Omit<Sql, 'notify'> {
    const query = (statement: Statement) =>
      this.#step(actor, session, async () => {
        await this.#showClock();
        const result = await (session?.client ?? this.#poolOf(actor.slot)).query(statement);
        if (!session && statement.text.includes('notify')) await this.#passNotifications();
        return result;
      });
    return {
      rows: async <Row>(statement: Statement) => (await query(statement)).rows as Row[],
      run: async (statement) => (await query(statement)).rowCount ?? 0,
    };
  }

  async #transact<Result>(actor: Actor, work: (tx: Sql) => Promise<Result>): Promise<Result> {
    const session = await this.#step(actor, null, () => this.#begin(actor));
    try {
      const notifications: [channel: string, payload: string][] = [];
      const later: Sql['notify'] = (channel, payload) => void notifications.push([channel, payload]);
      const result = await work({ ...this.#sqlOver(actor, session), notify: later });
      const isLate = this.#random.next() < this.faults.lateCommit;
      if (isLate) this.#faultCount++;
      await this.#step(actor, session, () => this.#commit(session), isLate ? this.#random.next() * LATE_COMMIT_MS : 0);
      for (const notification of notifications) this.#notify(actor, ...notification);
      return result;
    } catch (cause) {
      await this.#step(actor, session, () => this.#breakOff(session)).catch(() => undefined);
      throw cause;
    }
  }

  async #begin(actor: Actor): Promise<Session & { actor: Actor }> {
    const client = await this.#poolOf(actor.slot).connect();
    await client.query('begin');
    const session = { client, isClosed: false, actor };
    this.#sessions.add(session);
    // The actor or the server may have ended while the connection was opened.
    if (!actor.isAlive || this.#simulator.nowMs() < this.#awayUntilMs) await this.#breakOff(session);
    return session;
  }

  async #commit(session: Session): Promise<void> {
    await session.client.query('commit');
    session.isClosed = true;
    this.#sessions.delete(session as Session & { actor: Actor });
    session.client.release();
    await this.#passNotifications();
  }

  /** The server rolls back the transaction of a connection that is closed. */
  async #breakOff(session: Session): Promise<void> {
    if (session.isClosed) return;
    session.isClosed = true;
    this.#sessions.delete(session as Session & { actor: Actor });
    // A plain rollback would wait behind a statement that waits for a lock.
    const { processID } = session.client as unknown as { processID: number };
    session.client.on('error', () => undefined);
    await this.#admin.rows({ text: 'select pg_terminate_backend($1, 5000)', values: [processID] });
    session.client.release(true);
  }

  /** One statement: the way to the server, the execution and the way back, each with its faults. */
  #step<Result>(actor: Actor, session: Session | null, act: () => Promise<Result>, delayMs = 0): Promise<Result> {
    const { lost, unanswered, late } = this.faults;
    const luck = this.#random.next();
    const isLost = luck < lost;
    const isUnanswered = !isLost && luck < lost + unanswered;
    const isLate = !isLost && !isUnanswered && luck < lost + unanswered + late;
    if (isLost || isUnanswered || isLate) this.#faultCount++;
    return new Promise((resolve, reject) => {
      const refuse = () =>
        this.#simulator.after(actor, this.#random.next() * this.wayMs, () => reject(connectionLost()));
      const answer = (outcome: Outcome<Result>) =>
        this.#simulator.after(actor, this.#random.next() * (isLate ? LATE_MS : this.wayMs), () => {
          if (outcome.kind === 'error') reject(isTerminated(outcome.error) ? connectionLost() : outcome.error);
          else if (isUnanswered) reject(connectionLost());
          else resolve(outcome.result);
        });
      this.#simulator.after(actor, delayMs + this.#random.next() * this.wayMs, () => {
        if (session?.isClosed) return refuse();
        if (isLost || this.#isCutOff(actor) || this.#simulator.nowMs() < this.#awayUntilMs)
          return this.#simulator.work(session ? this.#breakOff(session) : Promise.resolve(), refuse);
        this.#simulator.work(act(), (outcome) => {
          this.#freeze(actor);
          if (isUnanswered && session) this.#simulator.work(this.#breakOff(session), () => answer(outcome));
          else answer(outcome);
        });
      });
    });
  }

  #isCutOff({ cutOffUntilMs }: Actor): boolean {
    return this.#simulator.nowMs() < cutOffUntilMs;
  }

  #freeze(actor: Actor): void {
    if (!actor.slot.startsWith('deliverer') || this.#random.next() >= this.faults.freezes) return;
    this.#faultCount++;
    actor.frozenUntilMs = this.#simulator.nowMs() + 10_500 + this.#random.next() * 3_000;
  }

  async #showClock(): Promise<void> {
    const shownMs = this.#simulator.nowMs() + this.clockOffsetMs;
    if (shownMs === this.#clockShowsMs) return;
    this.#clockShowsMs = shownMs;
    await this.#admin.run({ text: 'update sim.clock set now = $1', values: [new Date(shownMs)] });
  }

  async #passNotifications(): Promise<void> {
    const found = await this.#admin.rows<{ number: number; channel: string; payload: string }>({
      text: 'delete from sim.notifications returning number, channel, payload',
    });
    for (const { channel, payload } of found.sort((left, right) => left.number - right.number)) {
      for (const listener of this.#listeners) {
        if (listener.channel !== channel || this.#random.next() < this.faults.notNotified) continue;
        if (this.#isCutOff(listener.actor)) continue;
        this.#simulator.after(
          listener.actor,
          this.#random.next() * this.wayMs,
          () => this.#listeners.has(listener) && listener.onNotify(payload),
        );
      }
    }
  }
}

/** The simulation closed the connection while the statement waited for a lock. */
function isTerminated(error: unknown): boolean {
  return (error as { code?: string }).code === '57P01';
}

function connectionLost(): Error {
  return Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
}
