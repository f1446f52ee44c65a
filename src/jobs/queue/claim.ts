import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { nextJobs } from '../../rules/jobs/next-jobs.ts';
import type { ClaimedJob } from '../job.ts';
import type { JobKey } from '../store.ts';
import type { Holder } from './lease-store.ts';
import { claimJobs, MAX_HEAD, readQueueHead } from './queue-store.ts';

// Shorter than the statement timeout: a claim that runs after the worker gave up would start a job that no worker has.
const CLAIM_VALID_MS = 3_000;
// Short jobs end one by one: the next claims need no read. A job that is queued meanwhile is considered so much later.
const READ_AHEAD = { jobs: 8, keptMs: 50 };
// Workers that read the same jobs ahead would choose the same ones again and again.
const ALONE_AGAIN_AFTER_MS = 10_000;

/** `isAll`: no other job was queued. */
type NextJobs = { jobs: JobKey[]; moment: Date; readAtMs: number; isAll: boolean };

const NOT_READ: NextJobs = { jobs: [], moment: new Date(0), readAtMs: 0, isAll: false };

type ClaimsDeps = { db: Database; clock: Clock; leaseMs: number; holder?: Holder };

/**
 * Claims the jobs that start next: first those that were started before and returned to the queue; then the accounts in
 * turn, one job each, however many each has waiting.
 */
export class JobClaims {
  readonly #deps: ClaimsDeps;
  #next = NOT_READ;
  #mayReadAheadFromMs = 0;

  constructor(deps: ClaimsDeps) {
    this.#deps = deps;
  }

  /**
   * Claims jobs for at most `places` free places, in two statements or, soon after other claims, in one.
   * `isDrained`: no further job was queued. Otherwise another claim may find jobs.
   */
  async claim(places: number): Promise<{ jobs: ClaimedJob[]; isDrained: boolean }> {
    const { db, clock, leaseMs, holder = null } = this.#deps;
    const limit = Math.min(places, MAX_HEAD);
    const isFresh = clock.now() - this.#next.readAtMs < READ_AHEAD.keptMs;
    if (!isFresh || this.#next.jobs.length < limit) this.#next = await this.#read(limit);
    const chosen = this.#next.jobs.splice(0, limit);
    if (chosen.length === 0) return { jobs: [], isDrained: true };
    const { moment } = this.#next;
    const claim = { jobs: chosen, holder, leaseMs, moment, validMs: CLAIM_VALID_MS };
    const { jobs, stillWaiting } = await claimJobs(db, claim);
    if (jobs.length < chosen.length) {
      this.#mayReadAheadFromMs = clock.now() + ALONE_AGAIN_AFTER_MS;
      this.#next = NOT_READ;
    }
    return { jobs, isDrained: this.#next.isAll && this.#next.jobs.length === 0 && stillWaiting === 0 };
  }

  async #read(limit: number): Promise<NextJobs> {
    const readAtMs = this.#deps.clock.now();
    const most = readAtMs < this.#mayReadAheadFromMs ? limit : Math.max(limit, READ_AHEAD.jobs);
    const head = await readQueueHead(this.#deps.db, most);
    const jobs = head === null ? [] : nextJobs(head, most);
    return { jobs, moment: head?.moment ?? new Date(0), readAtMs, isAll: jobs.length < most };
  }
}
