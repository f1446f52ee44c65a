import { isDatabaseAway } from '../../db/database.ts';
import type { Engine } from '../../engines/engine.ts';
import type { Clock } from '../../platform/clock.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import type { ClaimedJob } from '../job.ts';
import { claimNextJob } from '../queue/claim.ts';
import { LEASE_MS, openLeases } from '../queue/lease.ts';
import { readMoment, returnLapsedJobs } from '../queue/lease-store.ts';
import { openCompletionWaiter } from '../stream/completion-waiter.ts';
import { executeJob, StopError } from './execute.ts';
import type { LimitedEngine } from './pipeline.ts';
import type { TranscriberDeps } from './transcriber-deps.ts';

// NOTIFY starts jobs at once; the poll finds what a lost connection did not tell.
const POLL_MS = 1_000;
const SWEEP_EVERY_MS = 1_000;
// Shorter than the wait for an answer: a sweep that the database runs after it stood still must change nothing.
const SWEEP_VALID_MS = 3_000;
// After trouble with the database, holders come first to renew their leases.
const SWEEPS_SKIPPED_AFTER_TROUBLE = 5;
const BACK_OFF_MS = { first: 250, most: 5_000 };
// A stop has 10 s in all; what has not been handed back by then is left to its lease.
const STOP_MS = 8_000;

/** Transcribes jobs as they come due, TRANSCRIBE_CONCURRENCY at once; `stop` gives back what is under way. */
export async function startTranscriber(deps: TranscriberDeps): Promise<{ stop(): Promise<void> }> {
  const { db, config, clock, log } = deps;
  const engines = limitEngines(deps.engines);
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  const wake = openWakeSignal();
  const stopListening = await db.listen('jobs_due', wake.ring);
  // Jobs that are canceled, or ended by others, while they are worked on here.
  const completions = await openCompletionWaiter(deps);
  const leases = openLeases(deps);
  const sweeping = sweepUntilStopped();
  const claiming = claimUntilStopped();

  async function claimUntilStopped(): Promise<void> {
    let failures = 0;
    while (!stopping.signal.aborted) {
      const rung = wake.next();
      try {
        await fillPlaces();
        failures = 0;
        await Promise.race([rung, sleepAlone(clock, POLL_MS, rung, stopping.signal)]);
      } catch (cause) {
        const backOffMs = Math.min(BACK_OFF_MS.most, BACK_OFF_MS.first * 2 ** failures++);
        if (isDatabaseAway(cause))
          log.warn({ err: cause, back_off_ms: backOffMs }, 'database away; no jobs are claimed');
        else log.error({ err: cause, back_off_ms: backOffMs }, 'could not claim jobs');
        await clock.sleep(backOffMs, stopping.signal);
      }
    }
  }

  /** Returns jobs whose holders died to the queue. Leases of a node that is alive end only when it cannot renew them. */
  async function sweepUntilStopped(): Promise<void> {
    let skipped = 0;
    while (!stopping.signal.aborted) {
      try {
        if (skipped === 0) await sweep();
        else skipped -= 1;
      } catch (cause) {
        skipped = SWEEPS_SKIPPED_AFTER_TROUBLE;
        log.warn({ err: cause }, 'could not look for leases that ended');
      }
      await clock.sleep(SWEEP_EVERY_MS, stopping.signal);
    }
  }

  async function sweep(): Promise<void> {
    const ids = await returnLapsedJobs(db, { moment: await readMoment(db), validMs: SWEEP_VALID_MS });
    if (ids.length > 0) log.warn({ job_ids: ids }, 'leases ended: the jobs are back in the queue');
  }

  async function fillPlaces(): Promise<void> {
    while (running.size < config.transcribeConcurrency && !stopping.signal.aborted) {
      const job = await claimNextJob(db, LEASE_MS, deps.holder);
      if (job === null) return;
      start(job);
    }
  }

  function start(job: ClaimedJob): void {
    const work: Promise<void> = executeJob(job, engines[job.plan], { ...deps, completions, leases }, stopping.signal)
      .catch((cause: unknown) => log.error({ job_id: job.id, err: cause }, 'a job is left to its lease'))
      .finally(() => {
        running.delete(work);
        wake.ring();
      });
    running.add(work);
  }

  return {
    async stop() {
      stopping.abort(new StopError());
      wake.ring();
      await stopListening();
      await Promise.all([claiming, sweeping]);
      const done = new AbortController();
      await Promise.race([Promise.all(running), clock.sleep(STOP_MS, done.signal)]);
      done.abort();
      await Promise.all([completions.close(), leases[Symbol.asyncDispose]()]);
    },
  };
}

/** One semaphore per engine; plans that share an engine share its semaphore. */
function limitEngines({ lite, pro }: { lite: Engine; pro: Engine }): { lite: LimitedEngine; pro: LimitedEngine } {
  const limitedLite = { engine: lite, semaphore: openSemaphore(lite.slots) };
  return { lite: limitedLite, pro: pro === lite ? limitedLite : { engine: pro, semaphore: openSemaphore(pro.slots) } };
}

type WakeSignal = { ring: () => void; next(): Promise<void> };

/** A ring between two calls of `next` is not lost as long as `next` is called before the look at the queue. */
function openWakeSignal(): WakeSignal {
  let armed = Promise.withResolvers<void>();
  return {
    ring: () => armed.resolve(),
    next() {
      armed = Promise.withResolvers<void>();
      return armed.promise;
    },
  };
}

/** Sleeps, but leaves no timer behind when something else ends the wait. */
async function sleepAlone(clock: Clock, ms: number, other: Promise<void>, signal: AbortSignal): Promise<void> {
  const done = new AbortController();
  void other.then(() => done.abort());
  await clock.sleep(ms, AbortSignal.any([signal, done.signal]));
}
