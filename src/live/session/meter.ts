import { creditRates } from '../../config/rates.ts';
import type { Database } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { growHold } from '../../jobs/end/hold.ts';
import type { ClaimedJob } from '../../jobs/job.ts';
import { costUnits } from '../../rules/jobs/price.ts';

/** Audio that is held when a session begins, and each time that it comes near the end of what is held. */
export const HELD_MS = 60_000;
/** More is held when so much or less of what is held is left. */
const LOW_MS = 30_000;

// A session that has just begun may have lost as much before, while its client could not reach the service.
const GAP_MS = 600_000;

/** What a look at the balance has found. `short`: no more than `allowedMs` are covered now. */
export type Coverage = 'covered' | 'short' | 'lost';

/** Holds the price of a session's audio before it is taken, a minute ahead. */
export class Meter {
  readonly #db: Database;
  readonly #job: ClaimedJob;
  /** Credits per minute of audio. */
  readonly #rate: number;
  /** Audio beyond this is not taken. */
  readonly #maxMs: number;
  #coveredMs: number;

  constructor({ db, config }: Runtime, job: ClaimedJob) {
    const rate = creditRates(config)[job.plan];
    this.#db = db;
    this.#job = job;
    this.#rate = rate;
    this.#maxMs = config.maxAudioSeconds * 1000;
    this.#coveredMs = job.unlimited || rate === 0 ? Number.POSITIVE_INFINITY : msWithin(job.heldUnits, rate);
  }

  /** Audio that may be taken. */
  get allowedMs(): number {
    return Math.min(this.#coveredMs, this.#maxMs);
  }

  /**
   * Whether a session may have gaps of `gapMs` in all, the last of which ends at `endMs`. They are not charged, and
   * take processor time and space: they are no longer than the session has lasted, and ten minutes.
   */
  allowsGap(gapMs: number, endMs: number, nowMs: number): boolean {
    return endMs <= this.#maxMs && gapMs <= nowMs - this.#job.createdAt.getTime() + GAP_MS;
  }

  /** Whether the length of the session is what bounds it, not the balance. */
  get isAtLength(): boolean {
    return this.#coveredMs >= this.#maxMs;
  }

  /** Whether more has to be held, for so much audio that was taken. */
  isLow(takenMs: number): boolean {
    return this.#coveredMs < this.#maxMs && this.#coveredMs - takenMs <= LOW_MS;
  }

  /** Holds another minute beyond what was taken, or as much of it as the balance has. */
  async grow(takenMs: number): Promise<Coverage> {
    const wantedMs = Math.min(this.#maxMs, Math.max(this.#coveredMs, takenMs) + HELD_MS);
    const growth = await this.#hold(wantedMs);
    if (growth.kind === 'lost') return 'lost';
    if (growth.kind === 'held') return 'covered';
    const restMs = msWithin(growth.availableUnits, this.#rate);
    // Other jobs may take the rest of the balance meanwhile.
    const rest = restMs > this.#coveredMs ? await this.#hold(restMs) : null;
    return rest?.kind === 'lost' ? 'lost' : 'short';
  }

  async #hold(ms: number): ReturnType<typeof growHold> {
    const growth = await growHold(this.#db, this.#job, costUnits(ms, this.#rate));
    if (growth.kind === 'held') this.#coveredMs = ms;
    return growth;
  }
}

/** Whole milliseconds of audio that the units pay for. */
function msWithin(units: number, rate: number): number {
  return Math.floor(units / costUnits(1, rate));
}
