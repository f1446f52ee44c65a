import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { eraseAudio, type JobWithAudio } from './audio-sweep.ts';

// One statement for the jobs that end in this time.
const GATHER_MS = 100;
const JOBS_AT_ONCE = 50;

/** Erases the audio of jobs soon after their end, many at once. What it cannot erase is left to the sweep. */
export class AudioEraser {
  readonly #runtime: StorageRuntime;
  readonly #closing = new AbortController();
  #due: JobWithAudio[] = [];
  #erasing: Promise<void> | null = null;

  constructor(runtime: StorageRuntime) {
    this.#runtime = runtime;
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
    const { clock, log } = this.#runtime;
    while (this.#due.length > 0) {
      if (this.#due.length < JOBS_AT_ONCE) await clock.sleep(GATHER_MS, this.#closing.signal);
      const jobs = this.#due.splice(0, JOBS_AT_ONCE);
      await eraseAudio(this.#runtime, jobs).catch((cause: unknown) => {
        log.warn({ job_ids: jobs.map(({ id }) => id), err: cause }, 'could not erase audio; the sweep will');
      });
    }
    this.#erasing = null;
  }
}
