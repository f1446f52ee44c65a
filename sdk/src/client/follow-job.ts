import type { Job, JobStreamEvents } from '../api.ts';
import { VerbatimError } from './http/errors.ts';
import { parseData } from './http/read-answer.ts';
import type { RequestOptions } from './http/settings.ts';
import { route, type Transport, throwIfAborted } from './http/transport.ts';
import { hasEnded } from './job.ts';

/** What is new about a job, by the name of the event. */
export type JobUpdate = {
  [Type in keyof JobStreamEvents]: { type: Type; data: JobStreamEvents[Type] };
}[keyof JobStreamEvents];

const MAX_CUTS = 3;
const LONGEST_POLL_MS = 5_000;

/**
 * What becomes known about a job until it ends, each piece once: from its event stream, and after three cuts of it by
 * polling.
 * @throws VerbatimError
 */
export async function* followJob(http: Transport, id: string, options: RequestOptions = {}): AsyncGenerator<JobUpdate> {
  const known = new KnownUpdates();
  for (let cuts = 0; cuts < MAX_CUTS; cuts++) {
    try {
      for await (const { event, data } of http.events(route`/v1/jobs/${id}/events`, options)) {
        const update = { type: event, data: parseData(data) } as JobUpdate;
        if (known.add(update)) yield update;
        if (update.type === 'status' && hasEnded(update.data)) return;
      }
    } catch (error) {
      if (!(error instanceof VerbatimError && error.isRetryable)) throw error;
    }
    await pause(http, 0.5, options);
  }
  yield* pollJob(http, id, options, known);
}

async function* pollJob(
  http: Transport,
  id: string,
  options: RequestOptions,
  known: KnownUpdates,
): AsyncGenerator<JobUpdate> {
  for (let polls = 0; ; polls++) {
    const job = await http.json<Job>('GET', route`/v1/jobs/${id}`, options).catch((error: unknown) => {
      if (error instanceof VerbatimError && error.isRetryable) return null;
      throw error;
    });
    for (const update of job ? updatesOf(job) : []) if (known.add(update)) yield update;
    if (job && hasEnded(job)) return;
    await pause(http, Math.min(LONGEST_POLL_MS, 1_000 * 1.5 ** polls) / 1_000, options);
  }
}

async function pause({ clock }: Transport, seconds: number, { signal }: RequestOptions): Promise<void> {
  await clock.sleep(seconds * 1_000, signal);
  throwIfAborted(signal);
}

/** A job as its event stream would report it; its end last. */
function updatesOf({ id, status, queue_position, error, progress, segments }: Job): JobUpdate[] {
  return [
    ...(progress > 0 ? [{ type: 'progress', data: { progress } } as const] : []),
    ...(segments ?? []).map((segment, index) => ({ type: 'segment', data: { index, ...segment } }) as const),
    { type: 'status', data: { id, status, ...(queue_position !== undefined && { queue_position }), error } },
  ];
}

/** What was reported, because each connection begins with all that is known. */
class KnownUpdates {
  readonly #last = new Map<string, string>();
  #progress = 0;

  /** False when the same was reported before. */
  add(update: JobUpdate): boolean {
    if (update.type === 'progress') {
      const isMore = update.data.progress > this.#progress;
      this.#progress = Math.max(this.#progress, update.data.progress);
      return isMore;
    }
    const name = update.type === 'segment' ? `segment ${update.data.index}` : update.type;
    const text = JSON.stringify(update.data);
    if (this.#last.get(name) === text) return false;
    this.#last.set(name, text);
    return true;
  }
}
