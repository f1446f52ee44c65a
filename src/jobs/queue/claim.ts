import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { nextJobs } from '../../rules/jobs/next-jobs.ts';
import type { ClaimedJob } from '../job.ts';
import type { JobKey } from '../store.ts';
import type { Holder } from './lease-store.ts';
import { claimJobs, MAX_HEAD, readQueueHead } from './queue-store.ts';

// Short jobs end one by one: the next claims need no read. A job that is queued meanwhile is considered so much later.
const READ_AHEAD = { jobs: 32, keptMs: 50 };
// Jobs whose announcement was lost are found by a read of the queue, however many others are announced.
const READ_AT_LEAST_EVERY_MS = 2_000;
// Workers that read the same jobs ahead would choose the same ones again and again.
const ALONE_AGAIN_AFTER_MS = 10_000;

/** `isAll`: no other job was queued. */
type NextJobs = { jobs: JobKey[]; readAtMs: number; isAll: boolean };

const NOT_READ: NextJobs = { jobs: [], readAtMs: 0, isAll: false };

export type ClaimsDeps = { db: Database; clock: Clock; leaseMs: number; holder?: Holder };

/**
 * Claims the jobs that start next: first those that were started before and returned to the queue; then the accounts in
 * turn, one job each, however many each has waiting.
 */
export class JobClaims {
  readonly #deps: ClaimsDeps;
  #next = NOT_READ;
  #mayReadAheadFromMs = 0;
  #readAtMs = 0;
  /** The database's clock, compared with this process's. */
  #databaseAheadMs = 0;
  /** The jobs that were announced since no job was queued; null when others may be queued. */
  #announced: JobKey[] | null = null;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /** Takes note of a job that was announced alone; null for a notification that may mean any jobs. */
  jobDue(job: JobKey | null): void {
    if (job === null) this.#announced = null;
    else this.#announced?.push(job);
  }

  /**
   * Claims jobs for at most `places` free places, in two statements or, soon after other claims or for announced jobs, in
   * one. `isDrained`: no further job was queued. Otherwise another claim may find jobs.
   */
  async claim(places: number): Promise<{ jobs: ClaimedJob[]; isDrained: boolean }> {
    const limit = Math.min(places, MAX_HEAD);
    const announced = this.#takeAnnounced(limit);
    const chosen = announced ?? (await this.#choose(limit));
    const { jobs, stillWaiting } = chosen.length > 0 ? await this.#claimChosen(chosen) : { jobs: [], stillWaiting: 0 };
    const isAll = announced ? jobs.length === chosen.length : this.#next.isAll && this.#next.jobs.length === 0;
    const isDrained = isAll && stillWaiting === 0;
    this.#announced = isDrained ? (this.#announced ?? []) : null;
    return { jobs, isDrained: isDrained && this.#announced?.length === 0 };
  }

  /** The announced jobs where no other job is queued and all of them can start, so that there is nothing to choose; else null. */
  #takeAnnounced(limit: number): JobKey[] | null {
    const announced = this.#announced ?? [];
    const isRead = this.#deps.clock.now() - this.#readAtMs < READ_AT_LEAST_EVERY_MS;
    const isChosen = isRead && announced.length > 0 && announced.length <= limit;
    this.#announced = isChosen ? [] : null;
    return isChosen ? announced : null;
  }

  async #choose(limit: number): Promise<JobKey[]> {
    const isFresh = this.#deps.clock.now() - this.#next.readAtMs < READ_AHEAD.keptMs;
    if (!isFresh || this.#next.jobs.length < limit) this.#next = await this.#read(limit);
    return this.#next.jobs.splice(0, limit);
  }

  async #claimChosen(chosen: JobKey[]): Promise<{ jobs: ClaimedJob[]; stillWaiting: number }> {
    const { db, clock, leaseMs, holder = null } = this.#deps;
    const moment = new Date(clock.now() + this.#databaseAheadMs);
    const claim = { jobs: chosen, holder, leaseMs, moment, validMs: BOUNDS.claimValidMs };
    const claimed = await claimJobs(db, claim);
    if (claimed.jobs.length > 0) this.#databaseAheadMs = claimed.jobs[0]!.startedAt!.getTime() - clock.now();
    if (claimed.jobs.length < chosen.length) {
      this.#mayReadAheadFromMs = clock.now() + ALONE_AGAIN_AFTER_MS;
      this.#next = NOT_READ;
    }
    return claimed;
  }

  async #read(limit: number): Promise<NextJobs> {
    const readAtMs = this.#deps.clock.now();
    const most = readAtMs < this.#mayReadAheadFromMs ? limit : Math.max(limit, READ_AHEAD.jobs);
    const head = await readQueueHead(this.#deps.db, most);
    this.#readAtMs = readAtMs;
    if (head === null) return { jobs: [], readAtMs, isAll: true };
    const jobs = nextJobs(head, most);
    this.#databaseAheadMs = head.moment.getTime() - readAtMs;
    return { jobs, readAtMs, isAll: jobs.length < most };
  }
}
