import { isDatabaseAway } from '../../db/database.ts';
import type { Engine } from '../../engines/engine.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { WakeSignal } from '../../platform/wake-signal.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { ClaimedJob } from '../job.ts';
import { readJobDue } from '../notify.ts';
import { ClaimsAhead } from '../queue/claims-ahead.ts';
import type { Leases } from '../queue/lease.ts';
import { openLeases, sweepLapsedJobs } from '../queue/lease.ts';
import { AudioEraser } from '../retention/audio-eraser.ts';
import type { CompletionWaiter } from '../stream/completion-waiter.ts';
import { openCompletionWaiter } from '../stream/completion-waiter.ts';
import { executeJob, StopError } from './execute.ts';
import type { LimitedEngine } from './pipeline.ts';
import type { TranscriberDeps } from './transcriber-deps.ts';

// NOTIFY starts jobs at once; the poll finds jobs whose notification was lost.
const POLL_MS = 1_000;
const SWEEP_EVERY_MS = 1_000;
const SWEEPS_SKIPPED_AFTER_FAILURE = BOUNDS.returnPauseMs / SWEEP_EVERY_MS;
const BACK_OFF_MS = { first: 250, most: 5_000 };
// While a job's speakers are searched for, which may take longer than the audio, or its end is written, another job is
// transcribed in its place.
const JOBS_PER_PLACE = 2;

/** Transcribes jobs as they come due, TRANSCRIBE_CONCURRENCY at once; `stop` hands back the jobs under way. */
export async function startTranscriber(deps: TranscriberDeps): Promise<{ stop(): Promise<void> }> {
  const worker = new Worker({
    ...deps,
    completions: await openCompletionWaiter(deps),
    leases: openLeases(deps),
    eraser: new AudioEraser(deps),
  });
  await worker.start();
  return { stop: () => worker.stop() };
}

type WorkerDeps = TranscriberDeps & { completions: CompletionWaiter; leases: Leases; eraser: AudioEraser };

/** The loops that claim due jobs and return jobs whose leases have ended. */
class Worker {
  readonly #deps: WorkerDeps;
  readonly #engines: { lite: LimitedEngine; pro: LimitedEngine };
  readonly #claims: ClaimsAhead;
  readonly #stopping = new AbortController();
  readonly #executing = new Set<Promise<void>>();
  /** Of the jobs under way, those that may need the engine: the others search for speakers or end, and hold no place. */
  #transcribing = 0;
  readonly #wake = new WakeSignal();
  #notifications = 0;
  /** No job was queued when the queue was last read: a place that becomes free is no reason to read it again. */
  #isDrained = false;
  #stopListening: () => Promise<void> = async () => undefined;
  #loops: Promise<void>[] = [];

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#engines = limitEngines(deps.engines);
    this.#claims = new ClaimsAhead({ ...deps, leaseMs: BOUNDS.leaseMs });
  }

  async start(): Promise<void> {
    this.#stopListening = await this.#deps.db.listen('jobs_due', (payload) => {
      this.#claims.jobDue(readJobDue(payload));
      this.#notifications += 1;
      this.#isDrained = false;
      this.#wake.send();
    });
    this.#loops = [this.#claimUntilStopped(), this.#sweepUntilStopped()];
  }

  async stop(): Promise<void> {
    const { clock, completions, leases, eraser } = this.#deps;
    this.#stopping.abort(new StopError());
    this.#wake.send();
    await this.#stopListening();
    await Promise.all(this.#loops);
    await waitAtMost(clock, Promise.all([...this.#executing, this.#claims.close()]), BOUNDS.workStopMs);
    await Promise.all([completions.close(), leases[Symbol.asyncDispose](), eraser.close()]);
  }

  async #claimUntilStopped(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const woken = this.#wake.next();
      try {
        await this.#claimFreeSlots();
        failures = 0;
        await waitAtMost(clock, woken, POLL_MS, signal);
      } catch (cause) {
        const backOffMs = Math.min(BACK_OFF_MS.most, BACK_OFF_MS.first * 2 ** failures++);
        const fields = { err: cause, back_off_ms: backOffMs };
        if (isDatabaseAway(cause)) log.warn(fields, 'database away; no jobs are claimed');
        else log.error(fields, 'could not claim jobs');
        await clock.sleep(backOffMs, signal);
      }
    }
  }

  async #claimFreeSlots(): Promise<void> {
    const { config } = this.#deps;
    this.#isDrained = false;
    while (!this.#isDrained && !this.#stopping.signal.aborted) {
      const most = config.transcribeConcurrency;
      const places = Math.min(most - this.#transcribing, JOBS_PER_PLACE * most - this.#executing.size);
      if (places <= 0) return;
      const notifications = this.#notifications;
      const { jobs, claimedAtMs, isDrained } = await this.#claims.claim(places);
      for (const job of jobs) this.#execute(job, claimedAtMs);
      this.#isDrained = isDrained && notifications === this.#notifications;
    }
  }

  #execute(job: ClaimedJob, claimedAtMs: number): void {
    const { clock } = this.#deps;
    const startedAtMs = clock.now();
    let isTranscribing = true;
    this.#transcribing += 1;
    const leavePlace = () => {
      if (isTranscribing) {
        this.#transcribing -= 1;
        this.#claims.jobLeft(clock.now() - startedAtMs);
      }
      isTranscribing = false;
      if (!this.#isDrained) this.#wake.send();
    };
    const deps = { ...this.#deps, claimedAtMs, onTranscribed: leavePlace };
    const execution: Promise<void> = executeJob(job, this.#engines[job.plan], deps, this.#stopping.signal)
      .catch((cause: unknown) => {
        this.#deps.log.error({ job_id: job.id, err: cause }, 'a job failed to execute; its lease will end');
      })
      .finally(() => {
        this.#executing.delete(execution);
        leavePlace();
      });
    this.#executing.add(execution);
  }

  /** Returns jobs whose holders died to the queue. The lease of a live node ends only when it cannot be renewed. */
  async #sweepUntilStopped(): Promise<void> {
    const { clock, log } = this.#deps;
    let skipped = 0;
    while (!this.#stopping.signal.aborted) {
      try {
        if (skipped === 0) await this.#sweep();
        else skipped -= 1;
      } catch (cause) {
        skipped = SWEEPS_SKIPPED_AFTER_FAILURE;
        log.warn({ err: cause }, 'could not return jobs whose leases ended');
      }
      await clock.sleep(SWEEP_EVERY_MS, this.#stopping.signal);
    }
  }

  async #sweep(): Promise<void> {
    const { db, log } = this.#deps;
    const ids = await sweepLapsedJobs(db);
    if (ids.length > 0) log.warn({ job_ids: ids }, 'leases ended: the jobs are back in the queue');
  }
}

/** Limits each engine to its slots, with one semaphore where both plans share an engine. */
function limitEngines({ lite, pro }: { lite: Engine; pro: Engine }): { lite: LimitedEngine; pro: LimitedEngine } {
  const limitedLite = { engine: lite, semaphore: openSemaphore(lite.slots) };
  return { lite: limitedLite, pro: pro === lite ? limitedLite : { engine: pro, semaphore: openSemaphore(pro.slots) } };
}
