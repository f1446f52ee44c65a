import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, tooLong } from '../audio-error.ts';
import { openPlainWav } from '../plain-wav.ts';
import { openAudio } from '../storage/open-audio.ts';
import { AudioGoneError } from '../storage/storage.ts';
import { hasUnnamedLayout } from './channel-layout.ts';
import type { DecodeOptions } from './decode-options.ts';
import { decodeRecording } from './decode-recording.ts';
import type { Frames } from './fill-holes.ts';
import { StereoMixer } from './mix-stereo.ts';
import { findRecordings, type Recordings, wholeFile } from './recordings.ts';

/** More than two channels are mixed to two by their loudspeakers. */
const ONE_OR_TWO_CHANNELS = 'aformat=channel_layouts=mono|stereo';

/**
 * An audio track as chunks of samples, mono, 16 000 per second, decoded only as fast as they are consumed. Each sample
 * stands where a player plays it.
 * The limit applies to the decoded samples, whatever the header claims.
 * @throws AudioError  when nothing can be decoded, or the audio is longer than the limit
 * @throws AudioGoneError  when there is no file, or only a part of it
 * @throws StorageAwayError  when the file cannot be read
 */
export async function* decodePcm(path: string, options: DecodeOptions): AsyncGenerator<Pcm> {
  const { maxAudioSeconds, signal, track = 0 } = options;
  const plain = track === 0 ? await openPlainWav(path, options) : null;
  let samples = 0;
  for await (const pcm of plain ?? (await openMixed(path, options))) {
    signal?.throwIfAborted();
    samples += pcm.length;
    if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield pcm;
  }
  signal?.throwIfAborted();
}

/** Channels whose loudspeakers nobody names are mixed in equal parts: ffmpeg would guess, and leave one of them out. */
async function openMixed(path: string, options: DecodeOptions): Promise<AsyncIterable<Pcm>> {
  const filter = (await hasUnnamedLayout(path, options)) ? null : ONE_OR_TWO_CHANNELS;
  return mixed(decodeSandboxed(path, filter, options));
}

async function* mixed(frames: AsyncIterable<Frames>): AsyncGenerator<Pcm> {
  const mixer = new StereoMixer();
  for await (const chunk of frames) yield mixer.mix(chunk);
}

/**
 * An audio track, decoded in the sandbox: the recordings of the file one after the other, each as `decodeRecording`
 * does.
 * @param filter  of ffmpeg, for the channels; null for all of them
 * @throws AudioError, AudioGoneError  as `decodePcm`; for the limit of the length only where a hole goes beyond it
 */
export async function* decodeSandboxed(
  path: string,
  filter: string | null,
  options: DecodeOptions,
): AsyncGenerator<Frames> {
  const { recordings, unreadBytes } = await readRecordings(path, options);
  let unread = unreadBytes;
  for (const recording of recordings) {
    const isWhole = recordings.length === 1 && !recording.isLongerThanStated && recording.unsized === null;
    try {
      yield* decodeRecording(path, { ...recording, isWhole, filter }, options);
    } catch (cause) {
      // What was heard of the recordings before stays.
      if (recording.start === 0 || !(cause instanceof AudioError)) throw cause;
      unread += recording.end - recording.start;
    }
  }
  if (unread > 0) options.onUnread?.(unread);
}

/** @throws AudioGoneError  when a part of the file is missing */
async function readRecordings(path: string, { sizeBytes = 0, isInMemory }: DecodeOptions): Promise<Recordings> {
  using file = await openAudio(path, { isInMemory });
  if (file.sizeBytes < sizeBytes) throw new AudioGoneError();
  const read = (at: number, bytes: number) => file.read(at, bytes, { isInMemory });
  const found = await findRecordings({ sizeBytes: file.sizeBytes, read });
  if (found.recordings.length > 0) return found;
  return { ...found, recordings: [wholeFile(0)] };
}
