import { AudioError } from '../../audio/audio-error.ts';
import type { ChannelPiece } from '../../audio/cut-channels.ts';
import { openChannels, openMixed, type TrackAudio } from '../../audio/decode/track-audio.ts';
import { isCutOff, readStatedLength, type StatedLength } from '../../audio/media/cut-off.ts';
import { endSample } from '../../audio/split.ts';
import { AudioGoneError } from '../../audio/storage/storage.ts';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import type { Log } from '../../platform/log.ts';
import { trackIndex } from '../../rules/channels/audio-tracks.ts';
import { Extent } from '../../rules/channels/extent.ts';
import { faultOf } from '../../rules/fault.ts';
import type { PeakCollector } from '../../rules/jobs/peaks.ts';
import type { FoundWarning } from '../../rules/jobs/warnings.ts';
import type { ExtendHold, Shortage } from '../end/hold.ts';
import type { ClaimedJob } from '../job.ts';
import type { openProgress } from './progress.ts';
import type { TranscriberRuntime } from './transcriber-runtime.ts';

// The operating system has a file in memory that was written so short a time ago.
const IN_MEMORY_MS = 5_000;
const isInMemory = ({ createdAt, startedAt }: ClaimedJob) => startedAt!.getTime() - createdAt.getTime() < IN_MEMORY_MS;

/**
 * @property stated  null where it could not be read
 * @property unread  what follows the audio in the file, once all is decoded
 */
export type JobAudio = TrackAudio & { stated: StatedLength | null; unread: { bytes: number } };

/**
 * The audio track that a job asked for: its distinct channels where that was asked for and it has several, else mixed.
 * The whole file is there: what is to be read of it beside the samples is read now. Once all pieces are transcribed,
 * the job does not depend on the storage any more.
 * @throws AudioError, AudioGoneError, StorageAwayError  as `openChannels`
 */
export async function openJobAudio(
  job: ClaimedJob,
  path: string,
  { tools, config, log }: TranscriberRuntime,
  signal: AbortSignal,
): Promise<JobAudio> {
  const { tracks, options, sizeBytes, format, durationMs } = job;
  const { multichannel = false, audio_track: choice = null } = options;
  const track = trackIndex(tracks, choice);
  if (track === null) throw new AudioError(`The file has no audio track ${choice}.`);
  const unread = { bytes: 0 };
  const { codec, channels } = tracks[track] ?? { codec: null, channels: null };
  const decode = {
    probed: { format: format ?? 'unknown', codec, channels, durationMs },
    onUnread: (bytes: number) => {
      unread.bytes = bytes;
    },
    tools,
    maxAudioSeconds: config.maxAudioSeconds,
    signal,
    track,
    sizeBytes,
    isInMemory: isInMemory(job),
  };
  const stated = await statedLengthOf(job, path, log);
  const isSeparate = multichannel && channels !== 1;
  return { ...(isSeparate ? await openChannels(path, decode) : openMixed(path, decode)), stated, unread };
}

/** It is used for a warning only, so a fault in reading it must not fail the job. */
async function statedLengthOf(job: ClaimedJob, path: string, log: Log): Promise<StatedLength | null> {
  try {
    return await readStatedLength(path, { isInMemory: isInMemory(job) });
  } catch (cause) {
    if (cause instanceof AudioGoneError || faultOf(cause) === 'storage') throw cause;
    log.error({ job_id: job.id, err: cause }, 'the length that a file states could not be read');
    return null;
  }
}

/** What a client should know about the tracks and channels of its file. */
export function audioWarnings({ tracks, options }: ClaimedJob, { findings }: TrackAudio): FoundWarning[] {
  const found: FoundWarning[] = [];
  if (tracks.length > 1 && options.audio_track === undefined) found.push({ code: 'more_audio_tracks' });
  if (findings !== null && findings.copies.length > 0) found.push({ code: 'duplicate_channels' });
  if (findings !== null && findings.silent.length > 0) found.push({ code: 'silent_channel' });
  return found;
}

/** What a client should know about the end of its file, which was decoded up to there. */
export function endWarnings({ stated, unread }: JobAudio, decodedSeconds: number): FoundWarning[] {
  const found: FoundWarning[] = unread.bytes > 0 ? [{ code: 'audio_after_end', ...unread }] : [];
  if (stated !== null && isCutOff(stated, decodedSeconds)) found.push({ code: 'audio_truncated' });
  return found;
}

/** What is known of a job's audio, as far as it is decoded. */
export type Decoded = {
  /** Of one channel. */
  samples: number;
  peaks: PeakCollector;
  /** What the balance lacks for the next piece, which ends the decoding; null while all is covered. */
  shortage: Shortage | null;
};

/**
 * Passes on each piece once the hold covers it. Ends, and ends the decoding, at the first piece that the hold does not
 * cover. The pieces that the engine has by then are covered, and are transcribed.
 */
export async function* piecesWithinHold(
  pieces: AsyncIterable<ChannelPiece>,
  { channels }: TrackAudio,
  { decoded, extendHold }: { decoded: Decoded; extendHold: ExtendHold },
): AsyncGenerator<ChannelPiece> {
  const extent = new Extent(channels.length, SAMPLE_RATE);
  for await (const piece of pieces) {
    extent.reach(piece.channel, endSample(piece));
    decoded.shortage = await extendHold({ decodedMs: extent.furthestMs(), chargedMs: extent.chargedMs() });
    if (decoded.shortage !== null) return;
    yield piece;
  }
}

/** Passes the chunks on, counts the samples of a channel and collects the peaks of all. */
export async function* countSamples(
  chunks: AsyncIterable<Pcm[]>,
  { decoded, progress }: { decoded: Decoded; progress: ReturnType<typeof openProgress> },
): AsyncGenerator<Pcm[]> {
  for await (const chunk of chunks) {
    decoded.samples += chunk[0]!.length;
    decoded.peaks.add(loudest(chunk));
    progress.decoded(decoded.samples / SAMPLE_RATE);
    yield chunk;
  }
  progress.decodedAll();
}

/** At each time the sample of the channel that is loudest then. */
function loudest([first, ...others]: Pcm[]): Pcm {
  if (others.length === 0) return first!;
  const most = first!.slice();
  for (const other of others) {
    for (let at = 0; at < most.length; at += 1) {
      if (Math.abs(other[at]!) > Math.abs(most[at]!)) most[at] = other[at]!;
    }
  }
  return most;
}
