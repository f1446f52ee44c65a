import type { Runtime } from '../db/runtime.ts';
import type { EngineSpec } from '../engines/engine-spec.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import { ApiError } from '../http/api-error.ts';
import type { Plan } from '../rules/accounts/plan.ts';

type Opened = { engine: Promise<LiveEngine>; sessions: number; closeTimer: AbortController | null };

type OpenEngine = (spec: EngineSpec | null) => Promise<LiveEngine>;

// Loading a model takes seconds; a process with one takes memory.
const CLOSE_AFTER_MS = 60_000;
const FULL_RETRY_SECONDS = '5';

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
   * The engine of a plan, with a place for a session that is free again when the result is disposed.
   * @param isReplacing  the session has a place already, by a connection that is replaced
   * @throws ApiError  503 when all places are taken, or there is no engine
   */
  async take(plan: Plan, isReplacing = false): Promise<{ engine: LiveEngine } & Disposable> {
    if (!isReplacing) this.requirePlace();
    const key = JSON.stringify(this.#specs[plan]);
    const opened = this.#opened.get(key) ?? this.#open(key, plan);
    opened.closeTimer?.abort(null);
    opened.closeTimer = null;
    opened.sessions += 1;
    this.#sessions += 1;
    const free = () => this.#free(key, opened);
    try {
      const engine = await opened.engine;
      if (!isReplacing && opened.sessions > engine.capacity()) throw full();
      return { engine, [Symbol.dispose]: once(free) };
    } catch (cause) {
      free();
      throw cause;
    }
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
    const opened: Opened = { engine, sessions: 0, closeTimer: null };
    this.#opened.set(key, opened);
    return opened;
  }

  #free(key: string, opened: Opened): void {
    opened.sessions -= 1;
    this.#sessions -= 1;
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

function once(act: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) act();
    isDone = true;
  };
}

function full(): ApiError {
  return new ApiError('unavailable', 'This node serves as many live sessions as it can; try again in a few seconds.', {
    headers: { 'retry-after': FULL_RETRY_SECONDS },
  });
}

function noEngine(cause: unknown): ApiError {
  return new ApiError(
    'unavailable',
    'There is no speech engine for live sessions on this node; /readyz says what to do.',
    {
      headers: { 'retry-after': FULL_RETRY_SECONDS },
      cause,
    },
  );
}
