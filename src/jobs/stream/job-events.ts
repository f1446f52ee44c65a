import type { Database } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { writeJson } from '../../platform/json.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import type { Job } from '../job.ts';
import { findPieces } from '../queue/piece-store.ts';
import type { QueuePositions } from '../queue/queue-position.ts';
import { findJob } from '../store.ts';
import type { JobSubscription } from './job-notifications.ts';

export type JobEventDeps = { db: Database; clock: Clock; positions: QueuePositions };

// Below the 60 s after which proxies commonly close a connection that says nothing.
const KEEP_ALIVE_MS = 15_000;
const RECONNECT_AFTER_MS = 2_000;
const PIECES_PER_READ = 50;
const SEGMENTS_PER_CHUNK = 100;

/** What a client has been told so far. */
type Told = { status: string; progress: number; lease: number; pieces: number; segments: number };

/**
 * A job's life as server-sent events: `status`, `progress` and `segment`, until it ends, is deleted, or `signal` aborts.
 * The whole of what is known comes first, so that whoever connects again misses nothing. Segments are numbered; when the
 * job has to be begun again they come again from number 0. A reader who is slow slows this down and nothing else.
 */
export async function* streamJobEvents(
  deps: JobEventDeps,
  name: { shard: number; accountId: string; id: string },
  watch: JobSubscription,
  signal: AbortSignal,
): AsyncGenerator<string> {
  using _watch = watch;
  const told: Told = { status: '', progress: -1, lease: -1, pieces: 0, segments: 0 };
  yield `retry: ${RECONNECT_AFTER_MS}\n\n`;
  while (!signal.aborted && !watch.isClosed()) {
    const changed = watch.next();
    const job = await orUndefinedWhileAway(findJob(deps.db, name));
    if (job === null) return;
    if (job !== undefined) {
      yield* tellNews(deps, job, told);
      if (isTerminal(job.state)) return;
    }
    const isNews = await isBefore(changed, deps.clock, signal);
    if (!isNews) yield ': nothing new\n\n';
  }
}

async function* tellNews(deps: JobEventDeps, job: Job, told: Told): AsyncGenerator<string> {
  if (job.lease !== told.lease) Object.assign(told, { lease: job.lease, pieces: 0, segments: 0 });
  // The word that ends the stream comes last.
  if (!isTerminal(job.state)) yield* tellStatus(deps, job, told);
  yield* tellProgress(job, told);
  if (job.state === 'processing') yield* tellPieces(deps, job, told);
  if (job.state === 'completed') yield* tellSegments(segmentsIn(job.segments).slice(told.segments), told);
  if (isTerminal(job.state)) yield* tellStatus(deps, job, told);
}

async function* tellStatus(deps: JobEventDeps, job: Job, told: Told): AsyncGenerator<string> {
  const place = await orUndefinedWhileAway(deps.positions.of(job));
  const error = job.errorType === null ? null : { type: job.errorType, message: job.errorMessage };
  const status = writeJson({ id: job.id, status: job.state, ...(place && { queue_position: place }), error });
  if (status === told.status) return;
  told.status = status;
  yield `event: status\ndata: ${status}\n\n`;
}

function* tellProgress(job: Job, told: Told): Generator<string> {
  if (job.progress === told.progress) return;
  told.progress = job.progress;
  yield `event: progress\ndata: ${writeJson({ progress: job.progress })}\n\n`;
}

async function* tellPieces(deps: JobEventDeps, job: Job, told: Told): AsyncGenerator<string> {
  while (true) {
    const asked = { firstNumber: told.pieces, limit: PIECES_PER_READ };
    const pieces = (await orUndefinedWhileAway(findPieces(deps.db, job, asked))) ?? [];
    for (const { segments } of pieces) yield* tellSegments(segmentsIn(segments), told);
    told.pieces += pieces.length;
    if (pieces.length < PIECES_PER_READ) return;
  }
}

function* tellSegments(segments: object[], told: Told): Generator<string> {
  for (let start = 0; start < segments.length; start += SEGMENTS_PER_CHUNK) {
    const some = segments.slice(start, start + SEGMENTS_PER_CHUNK);
    yield some
      .map((segment) => `event: segment\ndata: ${writeJson({ index: told.segments++, ...segment })}\n\n`)
      .join('');
  }
}

function segmentsIn(text: string | null): object[] {
  return JSON.parse(text ?? '[]') as object[];
}

/** True when something changed, false when nothing did for so long that a word is due. */
async function isBefore(changed: Promise<void>, clock: Clock, signal: AbortSignal): Promise<boolean> {
  const done = new AbortController();
  const tooLong = clock.sleep(KEEP_ALIVE_MS, AbortSignal.any([signal, done.signal])).then(() => false);
  const isNews = await Promise.race([changed.then(() => true), tooLong]);
  done.abort();
  return isNews;
}

/** A database that is away does not end the stream; what was missed is told once it is back. */
async function orUndefinedWhileAway<Value>(asked: Promise<Value>): Promise<Value | undefined> {
  try {
    return await asked;
  } catch (cause) {
    if (isDatabaseAway(cause)) return undefined;
    throw cause;
  }
}
