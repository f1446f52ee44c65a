import { requireFreeDisk, whileDiskIsFree } from '../../audio/storage/free-disk.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { creditRates } from '../../config/rates.ts';
import type { Database } from '../../db/database.ts';
import { PassCursor, RowPass } from '../../db/statements/row-pass.ts';
import { type ControlRuntime, cancelQueuedJob } from '../../jobs/api/control.ts';
import { endJob } from '../../jobs/end/end.ts';
import type { ClaimedJob, Job, JobMetrics, Outcome } from '../../jobs/job.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import {
  chargedMsOf,
  eraseLive,
  findIdleSessions,
  findLiveSegments,
  type IdleSession,
  type LiveRow,
  setLiveAudio,
  setTranscribed,
} from '../../jobs/live/live-store.ts';
import { findJob } from '../../jobs/store.ts';
import { missingWordTimes, segmentsJson, textOf } from '../../jobs/transcript.ts';
import type { Slices } from '../../platform/slices.ts';
import { PeakCollector } from '../../rules/jobs/peaks.ts';
import { costUnits } from '../../rules/jobs/price.ts';
import { type FoundWarning, toWarnings } from '../../rules/jobs/warnings.ts';
import { durationMs, type LiveFormat } from '../../rules/live/encoding.ts';
import { FrameReader } from '../../rules/live/frames.ts';
import { FRAME_SAMPLES } from '../../rules/live/resampler.ts';
import { packWords } from '../../rules/transcript/packed-words.ts';
import { Untranscribed } from '../../rules/transcript/untranscribed.ts';
import { flacMaxBytes, flacOf } from './audio/flac.ts';
import { readLiveAudio, type StoredPart } from './audio/live-audio.ts';
import { wavMaxBytes, wavOf } from './audio/wav.ts';

/** Sessions of one pass of the janitor. */
export const SWEPT_AT_ONCE = 100;

/** How a session ended. */
export type LiveEnd = {
  model: string;
  warnings: readonly FoundWarning[];
  /** The balance is used up: the job fails, and costs what was received until then. */
  isOutOfBalance?: boolean;
  /** Why the audio is not what the session takes: the job fails, costs nothing and stores no audio. */
  refusal?: string | null;
};

/** What the end of a live job runs on: its audio is read in turns with other work of the process. */
export type EndRuntime = StorageRuntime & { jobMetrics: JobMetrics; slices: Slices };

const SEGMENTS_PER_READ = 200;
const FRAMES_PER_TURN = 10;
// Blocks of silence are small: the storage writes thousands of them at once.
const CHUNKS_PER_TURN = 64;

/**
 * Ends the job of a live session from its rows alone: stores its audio where audio is kept, and writes transcript,
 * price, event and deliveries in one statement. Null when the job is no longer held under this claim. When it throws,
 * the job may have ended: another call returns it.
 * @param row  the session's row, when all of its segments are durable
 */
export async function endLiveJob(
  runtime: EndRuntime,
  { job, row }: { job: ClaimedJob; row: LiveRow },
  end: LiveEnd,
): Promise<Job | null> {
  const { db, log } = runtime;
  const ended = (await endHeldJob(runtime, { job, row }, end)) ?? (await endedBefore(db, job));
  if (ended === null) return null;
  runtime.jobMetrics.jobEnded(ended);
  // What is left after a failure is erased by the janitor.
  await eraseSession(db, row).catch((cause: unknown) =>
    log.warn({ job_id: job.id, err: cause }, 'rows of a live session are left'),
  );
  return ended;
}

async function endHeldJob(
  runtime: EndRuntime,
  { job, row }: { job: ClaimedJob; row: LiveRow },
  end: LiveEnd,
): Promise<Job | null> {
  const { db, config } = runtime;
  const peaks = new PeakCollector();
  const stored = end.refusal ? {} : await storeAudio(runtime, { job, row, peaks });
  if (stored === 'lost') return null;
  const outcome = await outcomeOf(runtime, { job, row }, end);
  if (end.isOutOfBalance) await setTranscribed(db, job, costUnits(chargedMsOf(row), creditRates(config)[job.plan]));
  return await endJob(
    runtime,
    { ...job, ...stored },
    outcome.kind === 'completed' ? { ...outcome, peaks: peaks.bytes() } : outcome,
  );
}

/** The job, when an earlier try under this claim has ended it and the answer of the database was lost. */
async function endedBefore(db: Database, claimed: ClaimedJob): Promise<Job | null> {
  const job = await findJob(db, claimed);
  const hasEnded = job?.state === 'completed' || job?.state === 'failed';
  return hasEnded && job.lease === claimed.lease ? job : null;
}

/**
 * Cancels live jobs that no client connected to in time, and deletes what is left of sessions that have ended: that of
 * a canceled one the next time. Returns how many there were.
 * @param cursor  shared by the passes
 */
export async function sweepLiveSessions(
  runtime: ControlRuntime,
  cursor = new PassCursor<IdleSession>(SWEPT_AT_ONCE),
): Promise<number> {
  const idle = await cursor.next((page) => findIdleSessions(runtime.db, page));
  const pass = new RowPass();
  await pass.each(idle, async ({ isEnded, ...key }) => {
    if (isEnded) await eraseSession(runtime.db, key);
    else await cancelQueuedJob(runtime, key);
  });
  pass.end();
  return idle.length;
}

/** Deletes the rows of a session whose job has ended. */
async function eraseSession(db: Database, row: Pick<LiveRow, 'shard' | 'id'>): Promise<void> {
  while (!(await eraseLive(db, row)));
}

/** The columns of the job that changed; nothing where audio is not kept, or cannot be stored now. */
async function storeAudio(
  { db, config, storage, log, slices }: EndRuntime,
  { job, row, peaks }: { job: ClaimedJob; row: LiveRow; peaks: PeakCollector },
): Promise<Partial<ClaimedJob> | 'lost'> {
  const { durableBytes, options } = row;
  if (config.audioRetentionHours === 0 || durableBytes === 0 || job.audioKey !== null) return {};
  try {
    const turn = () => slices.turn(job.accountId);
    const audio = collectPeaks(readLiveAudio(db, row, 0, durableBytes), { format: options, peaks, turn });
    const [format, fileOf, maxBytesOf] =
      row.gapBytes > 0 ? (['flac', flacOf, flacMaxBytes] as const) : (['wav', wavOf, wavMaxBytes] as const);
    // The parts of an object in a bucket are as large as the limit asks for, and are held in memory.
    const limits = { maxBytes: maxBytesOf(options, durableBytes) };
    await requireFreeDisk(storage, config.minFreeDiskBytes, durableBytes - row.gapBytes);
    const bytes = whileDiskIsFree(fileOf(options, durableBytes, audio), storage, config.minFreeDiskBytes);
    const file = inTurns(bytes, turn);
    const { key, sizeBytes, durable } = await storage.receive(file, limits);
    await durable;
    const changed = { audioKey: key, sizeBytes, format };
    if (await setLiveAudio(db, job, changed)) return changed;
    await storage.remove(key);
    return 'lost';
  } catch (cause) {
    log.warn({ job_id: job.id, err: cause }, 'the audio of a live session could not be stored; its text is complete');
    return {};
  }
}

async function* collectPeaks(
  audio: AsyncIterable<StoredPart>,
  { format, peaks, turn }: { format: LiveFormat; peaks: PeakCollector; turn: () => Promise<void> },
) {
  const reader = new FrameReader(format);
  let read = 0;
  for await (const part of audio) {
    yield part;
    for (const next of part.kind === 'bytes' ? reader.push(part.bytes) : reader.skip(part.bytes)) {
      if (read++ % FRAMES_PER_TURN === 0) await turn();
      if ('gapFrames' in next) peaks.skip(next.gapFrames * FRAME_SAMPLES);
      else peaks.add(next);
    }
  }
}

async function* inTurns(chunks: AsyncIterable<Uint8Array>, turn: () => Promise<void>) {
  let written = 0;
  for await (const chunk of chunks) {
    yield chunk;
    if (++written % CHUNKS_PER_TURN === 0) await turn();
  }
}

async function outcomeOf(
  { db }: StorageRuntime,
  { job, row }: { job: ClaimedJob; row: LiveRow },
  end: LiveEnd,
): Promise<Outcome> {
  const receivedMs = durationMs(row.options, row.durableBytes);
  if (end.isOutOfBalance) {
    const message = `The balance was used up after ${receivedMs / 1000} seconds. Add credits and begin another session.`;
    return { kind: 'failed', type: 'insufficient_balance', message, model: end.model, durationMs: receivedMs };
  }
  if (end.refusal) {
    const { refusal: message, model } = end;
    return { kind: 'failed', type: 'unprocessable_audio', message, model, durationMs: receivedMs };
  }
  const segments = await segmentsOf(db, row);
  const warnings: FoundWarning[] = [...end.warnings, ...missingWordTimes(job, segments)];
  const untranscribedMs = untranscribedIn(end.warnings);
  if (segments.length === 0 && untranscribedMs === 0) warnings.push({ code: 'no_speech' });
  const transcript = { segments, language: segments.find(({ language }) => language)?.language ?? null };
  return {
    kind: 'completed',
    model: end.model,
    language: transcript.language,
    transcript: textOf(transcript),
    segments: segmentsJson(transcript, job.wordTimes),
    words: job.wordTimes ? null : packWords(segments),
    speakers: null,
    warnings: toWarnings(warnings),
    durationMs: receivedMs,
    chargedMs: segments.length === 0 && untranscribedMs > 0 ? 0 : chargedMsOf(row) - untranscribedMs,
  };
}

/** Speech without text is not charged, as in other jobs. */
function untranscribedIn(warnings: readonly FoundWarning[]): number {
  const untranscribed = new Untranscribed(1);
  for (const { code, startSeconds, endSeconds } of warnings) {
    if (code !== 'untranscribed' || startSeconds === undefined || endSeconds === undefined) continue;
    untranscribed.add(0, [{ startSeconds, endSeconds }], []);
  }
  return untranscribed.ms();
}

async function segmentsOf(db: Database, row: LiveRow): Promise<LiveSegment[]> {
  const segments: LiveSegment[] = [];
  while (true) {
    const page = await findLiveSegments(db, row, { after: segments.length, limit: SEGMENTS_PER_READ });
    segments.push(...page);
    if (page.length < SEGMENTS_PER_READ) return segments;
  }
}
