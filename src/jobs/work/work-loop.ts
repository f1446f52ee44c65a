import { logFailure } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { WakeSignal } from '../../platform/wake-signal.ts';
import { BOUNDS } from '../../rules/bounds.ts';

/** The process stops: work under way is handed back. */
export class StopError extends Error {
  constructor() {
    super('the process stops');
    this.name = 'StopError';
  }
}

/** The place of work under way. */
export type Place = {
  /** Aborts with a `StopError` when the process stops. */
  signal: AbortSignal;
  /** Frees the place for other work before this work ends. */
  leave(): void;
};

/** What a loop claims, and how it is executed. */
export type Work<Claimed> = {
  /** For the log, such as `jobs`. */
  name: string;
  /** The notifications by which a process says that something is due. */
  channel: string;
  places: number;
  /** How much may be under way, with or without a place; default: `places`. */
  most?: number;
  /** More than a place becomes free when work ends: what could not be claimed before can be claimed then. */
  endsAdmitMore?: boolean;
  /** Claims what is due, for at most `places` places. `isDrained`: no more can be claimed now. */
  claim(places: number): Promise<{ claimed: Claimed[]; isDrained: boolean }>;
  /** Rejects when what came of the work could not be written: it is due again when its lease ends. */
  execute(claimed: Claimed, place: Place): Promise<void>;
};

// Finds what is due and whose notification was lost.
const POLL_MS = 1_000;
const BACK_OFF_MS = { first: 250, most: 5_000 };

/**
 * Claims work whenever a place is free: upon each notification, when a place becomes free while there may be more to
 * claim, and every second. `stop` makes the work under way hand itself back, and leaves what takes longer than 8 s to
 * its lease.
 */
export class WorkLoop<Claimed extends { id: string }> {
  readonly #runtime: Runtime;
  readonly #work: Work<Claimed>;
  readonly #stopping = new AbortController();
  readonly #wake = new WakeSignal();
  readonly #executing = new Set<Promise<void>>();
  #taken = 0;
  #isDrained = false;
  #stopListening: () => Promise<void> = async () => undefined;
  #looping: Promise<void> = Promise.resolve();

  constructor(runtime: Runtime, work: Work<Claimed>) {
    this.#runtime = runtime;
    this.#work = work;
  }

  async start(): Promise<void> {
    this.#stopListening = await this.#runtime.db.listen(this.#work.channel, () => this.#wake.send());
    this.#looping = this.#claimUntilStopped();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new StopError());
    this.#wake.send();
    await this.#stopListening();
    await this.#looping;
    await waitAtMost(this.#runtime.clock, Promise.all(this.#executing), BOUNDS.workStopMs);
  }

  async #claimUntilStopped(): Promise<void> {
    const { clock, log } = this.#runtime;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const woken = this.#wake.next();
      try {
        await this.#claimForFreePlaces();
        failures = 0;
        await waitAtMost(clock, woken, POLL_MS, signal);
      } catch (cause) {
        const backOffMs = Math.min(BACK_OFF_MS.most, BACK_OFF_MS.first * 2 ** failures++);
        logFailure(log, cause, `claiming ${this.#work.name}`, { back_off_ms: backOffMs });
        await clock.sleep(backOffMs, signal);
      }
    }
  }

  async #claimForFreePlaces(): Promise<void> {
    const { places, most = places, claim, endsAdmitMore = false } = this.#work;
    this.#isDrained = false;
    while (!this.#stopping.signal.aborted) {
      const free = Math.min(places - this.#taken, most - this.#executing.size);
      if (free <= 0) return;
      const { claimed, isDrained } = await claim(free);
      for (const each of claimed) this.#execute(each);
      this.#isDrained = isDrained && !endsAdmitMore;
      if (isDrained) return;
    }
  }

  #execute(claimed: Claimed): void {
    let isTaken = true;
    this.#taken += 1;
    const leave = () => {
      if (isTaken) this.#taken -= 1;
      isTaken = false;
      if (!this.#isDrained) this.#wake.send();
    };
    const execution: Promise<void> = this.#work
      .execute(claimed, { signal: this.#stopping.signal, leave })
      .catch((err: unknown) => {
        const fields = { job_id: claimed.id, work: this.#work.name, err };
        this.#runtime.log.error(fields, 'a result could not be written; the work starts again when its lease ends');
      })
      .finally(() => {
        this.#executing.delete(execution);
        leave();
      });
    this.#executing.add(execution);
  }
}
