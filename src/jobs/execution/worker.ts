import type { Engine } from '../../engines/engine.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { PLANS, type Plan } from '../../rules/accounts/plan.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { ClaimedJob } from '../job.ts';
import { claimNextJobs } from '../queue/claim.ts';
import { returnLapsedUntil } from '../queue/lapsed-jobs.ts';
import { renewLeases } from '../queue/lease-store.ts';
import { AudioEraser } from '../retention/audio-eraser.ts';
import { openCompletionWaiter } from '../stream/completion-waiter.ts';
import { StoragePresence } from '../waiting/storage-presence.ts';
import { LeaseKeeper } from '../work/lease-keeper.ts';
import { WorkLoop } from '../work/work-loop.ts';
import { executeJob, type HeldJob } from './execute.ts';
import type { LimitedEngine } from './pipeline.ts';
import type { TranscriberRuntime } from './transcriber-runtime.ts';

// While a job's speakers are searched for, which may take longer than the audio, or its end is written, another job is
// transcribed in its place.
const JOBS_PER_PLACE = 2;

type Transcriber = { stop(): Promise<void>; isStorageAway(): boolean };

/**
 * Transcribes jobs as they come due, TRANSCRIBE_CONCURRENCY at once; `stop` hands back the jobs under way. The engines
 * are watched by the caller.
 */
export async function startTranscriber(runtime: TranscriberRuntime): Promise<Transcriber> {
  const { db, config } = runtime;
  const completions = await openCompletionWaiter(runtime);
  const eraser = new AudioEraser(runtime);
  const leases = new LeaseKeeper<HeldJob>(runtime, (jobs, shard) =>
    renewLeases(db, jobs, { shard, leaseMs: BOUNDS.leaseMs, now: null }),
  );
  const engines = limitEngines(runtime.engines);
  const storagePresence = new StoragePresence(runtime);
  const shared = { ...runtime, completions, leases, eraser, storagePresence };
  const places = config.transcribeConcurrency;
  const loop = new WorkLoop<ClaimedJob>(runtime, {
    name: 'jobs',
    channel: 'jobs_due',
    places,
    most: JOBS_PER_PLACE * places,
    claim: (free) =>
      claimNextJobs({ ...runtime, plans: storagePresence.isAway() ? [] : presentPlans(runtime.engines) }, free),
    execute: (job, place) => executeJob(job, servingJob(engines[job.plan], job), shared, place),
  });
  const stopping = new AbortController();
  await loop.start();
  const returning = returnLapsedUntil(stopping.signal, runtime);
  const watching = storagePresence.watch(stopping.signal);
  return {
    isStorageAway: () => storagePresence.isAway(),
    async stop() {
      stopping.abort();
      await Promise.all([loop.stop(), returning, watching]);
      await Promise.all([completions.close(), leases.close(), eraser.close()]);
    },
  };
}

/** The plans whose engine works. */
function presentPlans(engines: TranscriberRuntime['engines']): Plan[] {
  return PLANS.filter((plan) => !engines[plan].absence?.());
}

/** The model of the plan's engine that the rule chooses for a job. */
function servingJob({ engine, semaphore }: LimitedEngine, { language, options }: ClaimedJob): LimitedEngine {
  const translateTo = options.translate_to ?? null;
  return { engine: engine.serving?.({ language, translateTo }) ?? engine, semaphore };
}

/** Limits each engine to its slots, with one semaphore where both plans share an engine. */
function limitEngines({ lite, pro }: { lite: Engine; pro: Engine }): { lite: LimitedEngine; pro: LimitedEngine } {
  const limitedLite = { engine: lite, semaphore: openSemaphore(lite.slots) };
  return { lite: limitedLite, pro: pro === lite ? limitedLite : { engine: pro, semaphore: openSemaphore(pro.slots) } };
}
