import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { eraseAudio, type JobWithAudio } from './audio-sweep.ts';

type EraserDeps = { db: Database; storage: AudioStorage; clock: Clock; log: Log };

// One statement for the jobs that end in this time.
const GATHER_MS = 100;
const JOBS_AT_ONCE = 50;

/** Erases the audio of jobs soon after their end, many at once. What it cannot erase is left to the sweep. */
export class AudioEraser {
  readonly #deps: EraserDeps;
  readonly #closing = new AbortController();
  #due: JobWithAudio[] = [];
  #erasing: Promise<void> | null = null;

  constructor(deps: EraserDeps) {
    this.#deps = deps;
  }

  add(job: JobWithAudio): void {
    this.#due.push(job);
    this.#erasing ??= this.#eraseDue();
  }

  /** Erases the rest. */
  async close(): Promise<void> {
    this.#closing.abort(null);
    await this.#erasing;
  }

  async #eraseDue(): Promise<void> {
    const { clock, log } = this.#deps;
    while (this.#due.length > 0) {
      if (this.#due.length < JOBS_AT_ONCE) await clock.sleep(GATHER_MS, this.#closing.signal);
      const jobs = this.#due.splice(0, JOBS_AT_ONCE);
      await eraseAudio(this.#deps, jobs).catch((cause: unknown) => {
        log.warn({ job_ids: jobs.map(({ id }) => id), err: cause }, 'could not erase audio; the sweep will');
      });
    }
    this.#erasing = null;
  }
}
