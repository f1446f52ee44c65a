import type { Log } from '../../platform/log.ts';
import type { ClaimedJob } from '../job.ts';
import type { JobKey } from '../store.ts';
import type { ClaimsDeps } from './claim.ts';
import { JobClaims } from './claim.ts';
import { handBackJob } from './lease-store.ts';

// Claims of several jobs by one statement cost half as much for each. Only while jobs are so short that another worker would
// hardly start them earlier.
const CLAIM_AHEAD = { jobs: 8, keptMs: 100, afterShortJobs: 8, shortMs: 20 };

/** Jobs and the time of this process at which they were claimed. `isDrained`: no further job was queued. */
type ClaimedAhead = { jobs: ClaimedJob[]; claimedAtMs: number; isDrained: boolean };

/**
 * The claims of a worker. After short jobs it claims a few more than there are free places, which start as places become
 * free, and hands those back to the queue that have not started within 100 ms.
 */
export class ClaimsAhead {
  readonly #claims: JobClaims;
  readonly #deps: ClaimsDeps & { log: Log };
  readonly #closing = new AbortController();
  #ready: Omit<ClaimedAhead, 'isDrained'> = { jobs: [], claimedAtMs: 0 };
  #shortInARow = 0;

  constructor(deps: ClaimsDeps & { log: Log }) {
    this.#claims = new JobClaims(deps);
    this.#deps = deps;
  }

  /** As `JobClaims.jobDue`. */
  jobDue(job: JobKey | null): void {
    this.#claims.jobDue(job);
  }

  /** As `JobClaims.claim`; jobs that are ready come first, without a statement. */
  async claim(places: number): Promise<ClaimedAhead> {
    const isReady = this.#ready.jobs.length > 0;
    const isDrained = !isReady && (await this.#claimReady(places));
    const { jobs, claimedAtMs } = this.#ready;
    return { jobs: jobs.splice(0, places), claimedAtMs, isDrained };
  }

  /** @param ranMs  how long a job occupied its place */
  jobLeft(ranMs: number): void {
    this.#shortInARow = ranMs <= CLAIM_AHEAD.shortMs ? this.#shortInARow + 1 : 0;
  }

  /** Hands back the jobs that have not started. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#handBack(this.#ready.jobs.splice(0));
  }

  /** True when all jobs were claimed that were queued, and none is left for a later place. */
  async #claimReady(places: number): Promise<boolean> {
    const { clock } = this.#deps;
    const ahead = this.#shortInARow >= CLAIM_AHEAD.afterShortJobs ? CLAIM_AHEAD.jobs : 0;
    const { jobs, isDrained } = await this.#claims.claim(places + ahead);
    this.#ready = { jobs, claimedAtMs: clock.now() };
    if (jobs.length <= places) return isDrained;
    void this.#handBackLate(jobs);
    return false;
  }

  async #handBackLate(jobs: ClaimedJob[]): Promise<void> {
    await this.#deps.clock.sleep(CLAIM_AHEAD.keptMs, this.#closing.signal);
    if (jobs.length === 0) return;
    this.#shortInARow = 0;
    await this.#handBack(jobs.splice(0));
  }

  async #handBack(jobs: ClaimedJob[]): Promise<void> {
    const { db, log } = this.#deps;
    for (const job of jobs) {
      const isBack = await handBackJob(db, job, null).catch((err: unknown) => {
        log.warn({ job_id: job.id, err }, 'could not hand back a job; it returns to the queue when its lease ends');
      });
      if (isBack) log.info({ job_id: job.id }, 'a job was handed back before it started');
    }
  }
}
