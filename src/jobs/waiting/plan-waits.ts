import type { Runtime } from '../../db/runtime.ts';
import { readAtMostEvery } from '../../platform/read-at-most-every.ts';
import { type Wait, waitingSince } from '../../rules/jobs/job-state.ts';
import type { JobHead } from '../job.ts';
import { findWaits } from './wait-store.ts';

/** What a job waits for beside its turn; null: nothing. */
type WaitOf = (job: JobHead) => Wait | null;

/** Adds to jobs what they wait for: at most a second old. */
export type PlanWaits = { addTo<Shown extends JobHead>(jobs: Shown[]): Promise<Shown[]> };

const READ_EVERY_MS = 1_000;

export function openPlanWaits({ db, clock }: Pick<Runtime, 'db' | 'clock'>): PlanWaits {
  const read = readAtMostEvery(clock, READ_EVERY_MS, async (): Promise<WaitOf> => {
    const waits = new Map((await findWaits(db)).map((wait) => [wait.plan, wait]));
    return ({ state, plan, audioKey, isLive, createdAt }) => {
      const wait = state === 'queued' && (audioKey !== null || isLive) ? waits.get(plan) : undefined;
      return wait ? { waitingFor: wait.waitingFor, since: waitingSince(wait, createdAt) } : null;
    };
  });
  return {
    async addTo(jobs) {
      if (!jobs.some(({ state }) => state === 'queued')) return jobs;
      const waitOf = await read();
      return jobs.map((job) => ({ ...job, wait: waitOf(job) }));
    },
  };
}
