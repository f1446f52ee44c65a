import { AudioError } from '../../audio/audio-error.ts';
import { FetchError } from '../../audio/fetch/fetch-error.ts';
import { isDiskFull } from '../../audio/storage/free-disk.ts';
import { ApiError } from '../../http/api-error.ts';
import { delayBeforeNextTryMs } from '../../rules/network/fetch-failure.ts';
import { traceField } from '../../rules/network/traceparent.ts';
import { findKeysInUse } from '../retention/audio-store.ts';
import { findJob } from '../store.ts';
import { LeaseLostError } from '../work/lease-keeper.ts';
import { retryWhileAway } from '../work/retry-while-away.ts';
import { StopError } from '../work/work-loop.ts';
import { openAudioUrl } from './audio-url.ts';
import { type FetchedAudio, fetchFile } from './fetch-file.ts';
import type { FetchRuntime } from './fetch-runtime.ts';
import { type ClaimedFetch, releaseFetch } from './fetch-store.ts';
import { type FetchEnd, type Finished, failFetched, queueFetched } from './finish-fetch.ts';

/** For all tries of a fetch together. */
const TOTAL_MS = 3_600_000;
// Full disks, storage that is away and crashes count no try; after a day of them the job fails.
const MAX_AGE_MS = 86_400_000;
const SERVICE_RETRY_MS = 30_000;

/** What a try came to. */
type Result =
  | { kind: 'fetched'; audio: FetchedAudio }
  | { kind: 'failed'; end: FetchEnd }
  | { kind: 'again'; delayMs: number; countsAsTry: boolean; reason: string };

/**
 * Makes one try of a claimed fetch, more where a file can be resumed, and records what it came to. Releases the fetch
 * when `stopSignal` aborts. Rejects when the result could not be written; the fetch is due again when its lease ends.
 */
export async function executeFetch(fetch: ClaimedFetch, runtime: FetchRuntime, stopSignal: AbortSignal): Promise<void> {
  await new FetchExecution(fetch, runtime, stopSignal).run();
}

class FetchExecution {
  readonly #fetch: ClaimedFetch;
  readonly #runtime: FetchRuntime;
  readonly #startedAt = performance.now();
  readonly #lost = new AbortController();
  readonly #signal: AbortSignal;
  #tries: number;

  constructor(fetch: ClaimedFetch, runtime: FetchRuntime, stopSignal: AbortSignal) {
    this.#fetch = fetch;
    this.#tries = fetch.tries;
    this.#runtime = runtime;
    this.#signal = AbortSignal.any([stopSignal, this.#lost.signal]);
  }

  async run(): Promise<void> {
    const { shard, id, lease } = this.#fetch;
    using _lease = this.#runtime.leases.hold(
      () => ({ shard, id, lease }),
      (cause) => this.#lost.abort(cause),
    );
    try {
      await this.#record(await this.#try());
    } catch (cause) {
      if (cause instanceof LeaseLostError) this.#logEnd({ outcome: 'lost' });
      else if (cause instanceof StopError) await this.#release({ delayMs: 0, countsAsTry: false, reason: 'stop' });
      else throw cause;
    }
  }

  async #try(): Promise<Result> {
    const { id, accountId, createdAt, moment } = this.#fetch;
    if (this.#runtime.config.audioUrl === 'off')
      return failed(new FetchError('forbidden_address', 'Audio by URL is switched off.'));
    if (moment.getTime() - createdAt.getTime() > MAX_AGE_MS) return failedByService();
    const timeout = new AbortController();
    const left = Math.max(0, TOTAL_MS - this.#fetch.spentMs);
    const timer = setTimeout(() => timeout.abort(overtime()), left);
    const signal = AbortSignal.any([this.#signal, timeout.signal]);
    try {
      const given = openAudioUrl(this.#runtime.secretBox, id, this.#fetch.request);
      const job = await this.#retryWhileAway(() => findJob(this.#runtime.db, this.#fetch));
      const track = job?.options.audio_track ?? null;
      const nextTry = (error: FetchError) => this.#waitForNextTry(error, signal);
      return {
        kind: 'fetched',
        audio: await fetchFile(this.#runtime, { ...given, accountId, track }, { signal, nextTry }),
      };
    } catch (cause) {
      this.#signal.throwIfAborted();
      return this.#resultOf(cause);
    } finally {
      clearTimeout(timer);
    }
  }

  #resultOf(cause: unknown): Result {
    const { id } = this.#fetch;
    if (cause instanceof AudioError) return { kind: 'failed', end: endOf('unprocessable_audio', cause.message) };
    if (cause instanceof FetchError) {
      const delayMs = this.#delayBeforeNextTryMs(cause);
      return delayMs === null ? failed(cause) : { kind: 'again', delayMs, countsAsTry: true, reason: cause.reason };
    }
    if (isDiskFull(cause) || (cause instanceof ApiError && cause.type === 'unavailable')) {
      this.#runtime.log.warn({ job_id: id, err: cause }, 'the disk is full, or the storage is away; the fetch waits');
      return { kind: 'again', delayMs: SERVICE_RETRY_MS, countsAsTry: false, reason: 'storage' };
    }
    this.#runtime.log.error({ job_id: id, err: cause }, 'a fetch failed by a fault of the service');
    return failedByService();
  }

  #delayBeforeNextTryMs(error: FetchError): number | null {
    if (this.#spentMs() >= TOTAL_MS) return null;
    return delayBeforeNextTryMs(error, { tries: this.#tries + 1, nowMs: this.#runtime.clock.now() });
  }

  /**
   * Counts a try that ended within the file, and keeps its bytes until the next try. False when there is no next one.
   */
  async #waitForNextTry(error: FetchError, signal: AbortSignal): Promise<boolean> {
    const delayMs = this.#delayBeforeNextTryMs(error);
    if (delayMs === null) return false;
    this.#logEnd({ outcome: 'again', reason: error.reason, delay_ms: delayMs });
    this.#tries += 1;
    await this.#runtime.clock.sleep(delayMs, signal);
    return true;
  }

  async #record(result: Result): Promise<void> {
    if (result.kind === 'again') return await this.#release(result);
    const finished = await this.#retryWhileAway(() =>
      result.kind === 'failed'
        ? failFetched(this.#runtime, this.#fetch, result.end)
        : queueFetched(this.#runtime, this.#fetch, result.audio),
    );
    if (result.kind === 'fetched' && finished.kind !== 'queued') await this.#removeUnlessUsed(result.audio.key);
    if (finished.kind === 'failed') this.#runtime.jobMetrics.jobEnded(finished.job);
    this.#logEnd({ outcome: finished.kind, ...endFields(finished), ...audioFields(result) });
  }

  /** A commit whose answer was lost has given the job its audio: the second try of that write finds no fetch. */
  async #removeUnlessUsed(key: string): Promise<void> {
    const isUsed = (await findKeysInUse(this.#runtime.db, [key])).length > 0;
    if (!isUsed) await this.#runtime.storage.remove(key);
  }

  async #release({ delayMs, countsAsTry, reason }: { delayMs: number; countsAsTry: boolean; reason: string }) {
    const tries = this.#tries + (countsAsTry ? 1 : 0);
    const after = { tries, spentMs: tries > this.#fetch.tries ? this.#spentMs() : this.#fetch.spentMs };
    await releaseFetch(this.#runtime.db, this.#fetch, { ...after, delayMs });
    this.#logEnd({ outcome: 'again', reason, delay_ms: delayMs });
  }

  #spentMs(): number {
    return this.#fetch.spentMs + performance.now() - this.#startedAt;
  }

  #retryWhileAway<Value>(work: () => Promise<Value>): Promise<Value> {
    return retryWhileAway(this.#runtime, { waits: 'a fetch', jobId: this.#fetch.id, signal: this.#signal }, work);
  }

  #logEnd(fields: Record<string, unknown>): void {
    const { id, accountId } = this.#fetch;
    const durationMs = Math.round(performance.now() - this.#startedAt);
    this.#runtime.log.info(
      { job_id: id, account_id: accountId, try: this.#tries + 1, ...fields, duration_ms: durationMs },
      'fetch',
    );
  }
}

function overtime(): FetchError {
  return new FetchError('timeout', 'The file did not arrive within an hour.');
}

function failed({ message, reason, httpStatus }: FetchError): Result {
  const end = endOf('audio_fetch_failed', message);
  return { kind: 'failed', end: { ...end, errorReason: reason, errorHttpStatus: httpStatus } };
}

function failedByService(): Result {
  const message = 'The audio could not be fetched by a fault of the service. Send the request again.';
  return { kind: 'failed', end: endOf('engine_error', message) };
}

function endOf(errorType: FetchEnd['errorType'], errorMessage: string): FetchEnd {
  return { errorType, errorMessage, errorReason: null, errorHttpStatus: null };
}

function endFields(finished: Finished): Record<string, unknown> {
  if (finished.kind !== 'failed') return {};
  const { traceparent, errorType, errorReason, errorHttpStatus } = finished.job;
  const { eventId, deliveryIds } = finished.recorded;
  const ids = { ...traceField(traceparent), event_id: eventId, delivery_ids: deliveryIds };
  return { ...ids, error_type: errorType, reason: errorReason, http_status: errorHttpStatus };
}

function audioFields(result: Result): Record<string, unknown> {
  if (result.kind !== 'fetched') return {};
  return { size_bytes: result.audio.sizeBytes, audio_ms: result.audio.durationMs };
}
