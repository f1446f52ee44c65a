import type { AudioStorage, SharedStorage } from '../../audio/storage/storage.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';

type Watched = { storage: AudioStorage & Partial<Pick<SharedStorage, 'whyAway'>>; clock: Clock; log: Log };

const AFTER_FAILURE_MS = 1_000;
const CHECK_EVERY_MS = 5_000;

/** Whether the audio storage works: no job is claimed while it does not. */
export class StoragePresence {
  readonly #watched: Watched;
  #sinceMs: number | null = null;

  constructor(watched: Watched) {
    this.#watched = watched;
  }

  isAway(): boolean {
    return this.#sinceMs !== null;
  }

  /** The storage failed; it counts as away until a check has passed. */
  failed(cause: unknown): void {
    const { clock, log } = this.#watched;
    if (this.#sinceMs === null) log.warn({ err: cause }, 'the audio storage is away; jobs wait');
    this.#sinceMs ??= clock.now();
  }

  /** Checks the storage every 5 s, and a second after it failed, until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    const { storage, clock } = this.#watched;
    while (!signal.aborted) {
      const wasAway = this.isAway();
      const why = await (storage.whyAway?.() ?? null);
      if (why !== null) this.failed(new Error(why));
      // A failure during the check counts: the next check decides.
      else if (wasAway) this.#back();
      await clock.sleep(this.isAway() && !wasAway ? AFTER_FAILURE_MS : CHECK_EVERY_MS, signal);
    }
  }

  #back(): void {
    const { clock, log } = this.#watched;
    log.info({ away_ms: clock.now() - (this.#sinceMs ?? clock.now()) }, 'the audio storage works');
    this.#sinceMs = null;
  }
}
