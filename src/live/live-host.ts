import type { Account } from '../accounts/account.ts';
import { requireCurrentCaller } from '../accounts/keys/current-caller.ts';
import { findUsableKeys } from '../accounts/keys/usable-keys.ts';
import { insufficientBalance } from '../accounts/ledger/insufficient-balance.ts';
import { missingUnits } from '../accounts/ledger/ledger-store.ts';
import { lockAccount } from '../accounts/store.ts';
import { requireFreeDisk } from '../audio/storage/free-disk.ts';
import { creditRates } from '../config/rates.ts';
import type { Sql } from '../db/database.ts';
import { ApiError, unavailable } from '../http/api-error.ts';
import type { MessageBudgets } from '../http/websocket/message-budgets.ts';
import { acceptLive } from '../jobs/api/accept-store.ts';
import type { ControlRuntime } from '../jobs/api/control.ts';
import { type JobRequest, permitPlan } from '../jobs/api/request.ts';
import { type Job, NO_AUDIO } from '../jobs/job.ts';
import { countLiveSessions, type LiveOptions, leaveSession } from '../jobs/live/live-store.ts';
import type { JobKey } from '../jobs/store.ts';
import { openFairSemaphore } from '../platform/fair-semaphore.ts';
import type { Plan } from '../rules/accounts/plan.ts';
import { costUnits } from '../rules/jobs/price.ts';
import type { Callers } from './key-caller.ts';
import type { LiveEngines } from './live-engines.ts';
import { HELD_MS } from './session/meter.ts';
import { type LiveRuntime, type Place, RunningSession, type SessionUser } from './session/running-session.ts';
import { type TakenSession, takeOverSession } from './session/take-over.ts';

/** What the endpoints of live sessions run on. */
export type LiveApi = ControlRuntime & { host: LiveHost; callers: Callers; budgets: MessageBudgets };

type HostRuntime = LiveRuntime & {
  engines: LiveEngines;
  /** <node>/<process>. */
  holder: string;
};

/** A client that has not connected within this time will not. */
export const CONNECT_WITHIN_MS = 60_000;
const RESTART_RETRY_SECONDS = 1;
// A session ends within 2 s of its key.
const KEY_CHECK_MS = 1_000;

export type NewSession = {
  account: Account;
  keyId: string | null;
  /** The trace of the request; null: none. */
  traceparent: string | null;
  request: JobRequest;
  options: LiveOptions;
  /** SHA-256 of the token that connects; null where the session is connected by its request. */
  tokenHash: Buffer | null;
};

/** A session that was taken over and does not run yet: `run` or `abandon` it. */
export type Taken = TakenSession & { place: Place };

/** What a wire does when the process stops. */
export type HostedUser = SessionUser & {
  /** Another connection has the session now. */
  replaced(): void;
  /** The key that began the session has ended, or lacks the scope by now, or its account is suspended. */
  keyEnded(): void;
  /** The process stops: the client is told to connect again. The session is left when it resolves. */
  restarting(): Promise<void>;
};

/** Begins the live sessions of this process and takes sessions over. */
export class LiveHost {
  readonly #runtime: HostRuntime;
  readonly #running = new Map<string, { session: RunningSession; user: HostedUser }>();
  /** The session of each connection that takes one over, until it runs or is abandoned. */
  readonly #taking: string[] = [];
  /** An account's sessions begin one after another: each would wait for the account's lock on a connection. */
  readonly #creating = openFairSemaphore({ permits: 8, perOwner: 1 });
  #isClosing = false;
  #checkingKeys: Promise<void> | null = null;

  constructor(runtime: HostRuntime) {
    this.#runtime = runtime;
  }

  get sessions(): number {
    return this.#running.size;
  }

  /** How far the engine of the slowest session is behind, in seconds of audio. */
  get behindSeconds(): number {
    return Math.max(0, ...this.#running.values().map(({ session }) => session.decoding.behindSeconds()));
  }

  /** @throws ApiError  503 */
  requirePlace(): void {
    if (this.#isClosing) throw restarting();
    this.#runtime.engines.requirePlace();
  }

  /**
   * Inserts the job of a session, with its first minute held, and does what belongs to the same transaction. Nobody is
   * connected yet.
   * @param id  of the job
   * @throws ApiError  401, 402, 403, or 503 while the disk has less than MIN_FREE_DISK_BYTES
   */
  async create<Result>(id: string, session: NewSession, act: (tx: Sql, job: Job) => Promise<Result>): Promise<Result> {
    await requireFreeDisk(this.#runtime.storage, this.#runtime.config.minFreeDiskBytes);
    const insert = async (tx: Sql) => await act(tx, await this.#insert(tx, id, session));
    return await this.#creating(session.account.id, () => this.#runtime.db.transaction(insert));
  }

  async #insert(
    tx: Sql,
    id: string,
    { account, keyId, traceparent, request, options, tokenHash }: NewSession,
  ): Promise<Job> {
    const { config } = this.#runtime;
    const { shard, id: accountId } = account;
    await lockAccount(tx, account);
    const caller = { shard, accountId, keyId };
    const { plan: planNow, unlimited } = await requireCurrentCaller(tx, caller, 'jobs:write');
    const most = config.maxLiveSessionsPerAccount[planNow];
    if ((await countLiveSessions(tx, { shard, accountId })) >= most) throw tooMany(most, planNow);
    permitPlan('plan', request.plan, planNow);
    const units = costUnits(HELD_MS, creditRates(config)[request.plan]);
    const session = { options, tokenHash, connectWithinMs: CONNECT_WITHIN_MS };
    const owned = { shard, id, accountId, keyId, unlimited, traceparent };
    const given = { ...owned, filename: null, audioSource: null, ...request };
    const stored = { ...NO_AUDIO, format: options.encoding as string, sizeBytes: 0, durationMs: 0 };
    const job = await acceptLive(tx, { ...given, ...stored, heldUnits: unlimited ? 0 : units }, session);
    if (job !== null) return job;
    throw tooExpensive(units, await missingUnits(tx, account, units));
  }

  /**
   * Takes a session over for a client that connects; nobody else can write it any more. Null when the job has ended, or
   * belongs to another account.
   * @throws ApiError  503
   */
  async take(
    key: JobKey & { accountId: string },
    { plan, unlimited }: Pick<Job, 'plan' | 'unlimited'>,
  ): Promise<Taken | null> {
    if (this.#isClosing) throw restarting();
    const owner = { accountId: key.accountId, isUnlimited: unlimited };
    // Also by a connection that has not begun to run it, where many come at once.
    const hasPlace = this.#running.has(key.id) || this.#taking.includes(key.id);
    const place = await this.#runtime.engines.take(plan, owner, hasPlace);
    this.#taking.push(key.id);
    const giveUp = () => {
      place.free();
      this.#tookOver(key.id);
    };
    try {
      const taken = await takeOverSession(this.#runtime.db, key, this.#runtime.holder);
      if (taken) return { ...taken, place };
      giveUp();
      return null;
    } catch (cause) {
      giveUp();
      throw cause;
    }
  }

  #tookOver(id: string): void {
    const at = this.#taking.indexOf(id);
    if (at !== -1) this.#taking.splice(at, 1);
  }

  /** Runs a session for a connected client. A connection of this process that had it before is replaced. */
  run(taken: Taken, user: HostedUser): RunningSession {
    const { id } = taken.job;
    this.#tookOver(id);
    const before = this.#running.get(id);
    this.#running.delete(id);
    before?.session.abandon();
    before?.user.replaced();
    const session = new RunningSession(this.#runtime, taken, user);
    session.over.addEventListener('abort', () => {
      if (this.#running.get(id)?.session === session) this.#running.delete(id);
    });
    this.#running.set(id, { session, user });
    this.#runtime.liveMetrics.liveConnected(taken.row.connections > 1 ? 'resumed' : 'new');
    this.#checkingKeys ??= this.#checkKeys().finally(() => {
      this.#checkingKeys = null;
    });
    return session;
  }

  /** A connection of /v1/live has ended. */
  connectionClosed(code: number): void {
    this.#runtime.liveMetrics.liveClosed(code);
  }

  /** The client is gone before its session ran. */
  async abandon({ job, row, place }: Taken): Promise<void> {
    place.free();
    this.#tookOver(job.id);
    // After a failure the lease of the job ends by itself.
    await this.#runtime.db.transaction((tx) => leaveSession(tx, row)).catch(() => undefined);
  }

  /** Ends the sessions whose keys have ended: one statement a second for all, while there are any. */
  async #checkKeys(): Promise<void> {
    const { db, clock, log } = this.#runtime;
    while (this.#running.size > 0 && !this.#isClosing) {
      await clock.sleep(KEY_CHECK_MS);
      const held = [...this.#running.values()].map(({ session: { job }, user }) => {
        // No key has the empty id: a session without a key ends.
        return { shard: job.shard, id: job.keyId ?? '', accountId: job.accountId, sessionId: null, user };
      });
      try {
        const usable = new Set(await findUsableKeys(db, held, 'jobs:write'));
        for (const key of held) if (!usable.has(key)) key.user.keyEnded();
      } catch (cause) {
        log.warn({ err: cause }, 'could not check the keys of live sessions');
      }
    }
  }

  /** Sends all clients to other processes. Their sessions are durable when it resolves. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#running.values()].map(({ user }) => user.restarting()));
    await this.#runtime.engines.close();
  }
}

function tooMany(most: number, plan: Plan): ApiError {
  const message = `An account on ${plan} may have ${most} live sessions at once. Finish one, then begin another.`;
  return new ApiError('plan_limit', message);
}

function tooExpensive(units: number, missing: number): ApiError {
  return insufficientBalance(
    { neededUnits: units, availableUnits: units - missing },
    ({ needed, available }) =>
      `The first minute costs ${needed} credits and the balance holds ${available}. Add credits, then begin the session.`,
  );
}

function restarting(): ApiError {
  return unavailable('The service is shutting down; try again in a few seconds.', RESTART_RETRY_SECONDS);
}
