import type { Runtime } from '../db/runtime.ts';
import type { EngineSpec } from '../engines/engine-spec.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import { type ApiError, unavailable } from '../http/api-error.ts';
import type { Plan } from '../rules/accounts/plan.ts';
import type { Place } from './session/running-session.ts';

type Opened = {
  engine: Promise<LiveEngine>;
  sessions: number;
  /** Places that are taken, of each account. */
  places: Map<string, number>;
  closeTimer: AbortController | null;
};

/** Whose place it is. An operator's unlimited account may take all places. */
export type PlaceOwner = { accountId: string; isUnlimited: boolean };

type OpenEngine = (spec: EngineSpec | null) => Promise<LiveEngine>;

// Of the places of a node, for accounts that have none.
const RESERVED = 0.25;
// Loading a model takes seconds; a process with one takes memory.
const CLOSE_AFTER_MS = 60_000;
const FULL_RETRY_SECONDS = 5;

/**
 * The live engines of this node: opened for the first session, closed a minute after the last. Plans with the same spec
 * share one.
 */
export class LiveEngines {
  readonly #runtime: Runtime;
  readonly #openEngine: OpenEngine;
  readonly #specs: Record<Plan, EngineSpec | null>;
  readonly #opened = new Map<string, Opened>();
  #sessions = 0;

  constructor(runtime: Runtime, openEngine: OpenEngine) {
    this.#runtime = runtime;
    this.#openEngine = openEngine;
    const { engineLite, enginePro, engineLiveLite, engineLivePro } = runtime.config;
    this.#specs = { lite: engineLiveLite ?? engineLite, pro: engineLivePro ?? enginePro };
  }

  /** Whether this node takes another session now. @throws ApiError  503 */
  requirePlace(): void {
    const { liveSessions } = this.#runtime.config;
    if (liveSessions !== null && this.#sessions >= liveSessions) throw full();
  }

  /**
   * The engine of a plan, with a place for a session. An account that has places leaves a quarter of them to others.
   * @param isReplacing  the session has a place already, by a connection that is replaced
   * @throws ApiError  503 when all places are taken, or there is no engine
   */
  async take(plan: Plan, owner: PlaceOwner, isReplacing = false): Promise<Place> {
    if (!isReplacing) this.requirePlace();
    const key = JSON.stringify(this.#specs[plan]);
    const opened = this.#opened.get(key) ?? this.#open(key, plan);
    opened.closeTimer?.abort(null);
    opened.closeTimer = null;
    opened.sessions += 1;
    try {
      const engine = await opened.engine;
      const places = Math.min(engine.capacity(), this.#runtime.config.liveSessions ?? Number.POSITIVE_INFINITY);
      if (!isReplacing) requireShare(opened.places, owner, places);
      return this.#placeOf(key, { opened, engine, places, owner });
    } catch (cause) {
      this.#free(key, opened);
      throw cause;
    }
  }

  /** A place that is taken. */
  #placeOf(
    key: string,
    { opened, engine, places, owner }: { opened: Opened; engine: LiveEngine; places: number; owner: PlaceOwner },
  ): Place {
    const { accountId } = owner;
    let isTaken = false;
    let isOpen = true;
    const count = (change: 1 | -1) => {
      isTaken = change === 1;
      this.#sessions += change;
      const ofAccount = (opened.places.get(accountId) ?? 0) + change;
      if (ofAccount > 0) opened.places.set(accountId, ofAccount);
      else opened.places.delete(accountId);
    };
    const rest = () => void (isTaken && count(-1));
    count(1);
    return {
      engine,
      rest,
      wake: () => {
        if (isTaken) return true;
        if (!isOpen || takenOf(opened.places) >= places) return false;
        count(1);
        return true;
      },
      free: () => {
        rest();
        if (isOpen) this.#free(key, opened);
        isOpen = false;
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.#opened.values()];
    this.#opened.clear();
    for (const { closeTimer } of all) closeTimer?.abort(null);
    await Promise.all(all.map(async ({ engine }) => (await engine.catch(() => null))?.[Symbol.asyncDispose]()));
  }

  #open(key: string, plan: Plan): Opened {
    const engine = this.#openEngine(this.#specs[plan]).catch((cause: unknown) => {
      this.#opened.delete(key);
      this.#runtime.log.error({ plan, err: cause }, 'no engine for live sessions');
      throw noEngine(cause);
    });
    const opened: Opened = { engine, sessions: 0, places: new Map(), closeTimer: null };
    this.#opened.set(key, opened);
    return opened;
  }

  #free(key: string, opened: Opened): void {
    opened.sessions -= 1;
    if (opened.sessions === 0 && this.#opened.get(key) === opened) void this.#closeLater(key, opened);
  }

  async #closeLater(key: string, opened: Opened): Promise<void> {
    const timer = new AbortController();
    opened.closeTimer = timer;
    await this.#runtime.clock.sleep(CLOSE_AFTER_MS, timer.signal);
    if (timer.signal.aborted || this.#opened.get(key) !== opened) return;
    this.#opened.delete(key);
    const engine = await opened.engine.catch(() => null);
    await engine?.[Symbol.asyncDispose]();
  }
}

/** @throws ApiError  503 when all places are taken, or all but those that are kept for other accounts */
function requireShare(taken: Map<string, number>, { accountId, isUnlimited }: PlaceOwner, places: number): void {
  const free = places - takenOf(taken);
  if (free <= 0) throw full();
  const own = taken.get(accountId) ?? 0;
  const reserved = places > 1 && own > 0 && !isUnlimited ? Math.ceil(places * RESERVED) : 0;
  if (free <= reserved) throw share(own);
}

function takenOf(places: Map<string, number>): number {
  return places.values().reduce((sum, ofAccount) => sum + ofAccount, 0);
}

function share(own: number): ApiError {
  const message = `The account has ${own} live sessions on this node, and the places that are left are kept for others.`;
  return unavailable(`${message} Finish one, or try again in a few seconds.`, FULL_RETRY_SECONDS);
}

function full(): ApiError {
  const message = 'This node serves as many live sessions as it can; try again in a few seconds.';
  return unavailable(message, FULL_RETRY_SECONDS);
}

function noEngine(cause: unknown): ApiError {
  const message = 'There is no speech engine for live sessions on this node; /readyz says what to do.';
  return unavailable(message, FULL_RETRY_SECONDS, { cause });
}
