import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, noSound, tooLong } from '../audio-error.ts';
import { readWavHeader } from '../plain-wav.ts';
import { type DecodeOptions, decodeSandboxed, wholeFrames } from './decode.ts';
import { CHANNELS_MAX } from './ffprobe-answer.ts';

// A WAV stream says how many channels it has. Without its tags, which are the file's own text, the header is short.
const OUTPUT = ['-map_metadata', '-1', '-fflags', '+bitexact', '-c:a', 'pcm_s16le', '-f', 'wav'];
const HEADER_MAX_BYTES = 1024;
const CHANNELS_AT = 2;

/**
 * The channels of an audio track side by side: chunks with the samples of each channel, all of the same length, 16 000
 * per second, decoded only as fast as they are consumed.
 * @param selected  the numbers of the channels to decode, in this order; all when null
 * @throws AudioError  as `decodePcm`; also for more than CHANNELS_MAX channels
 * @throws AudioGoneError  when there is no file
 */
export async function* decodeChannels(
  path: string,
  selected: readonly number[] | null,
  options: DecodeOptions,
): AsyncGenerator<Pcm[]> {
  const { maxAudioSeconds, signal } = options;
  const filter = selected === null ? [] : ['-af', selectionFilter(selected)];
  const bytes = decodeSandboxed(path, [...filter, ...OUTPUT], options);
  try {
    const { channels, rest } = await readHeader(bytes);
    let samples = 0;
    for await (const frames of wholeFrames(rest, channels)) {
      signal?.throwIfAborted();
      samples += frames.length / channels;
      if (samples > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
      yield separated(frames, channels);
    }
    if (samples === 0) throw noSound();
  } finally {
    await bytes.return(undefined);
  }
}

/**
 * ffmpeg's `pan` copies channels by their number and never mixes them, whatever loudspeakers the file assigns them to.
 */
function selectionFilter(channels: readonly number[]): string {
  return [`pan=${channels.length}c`, ...channels.map((channel, position) => `c${position}=c${channel}`)].join('|');
}

async function readHeader(bytes: AsyncGenerator<Buffer>): Promise<{ channels: number; rest: AsyncGenerator<Buffer> }> {
  let start: Buffer = Buffer.alloc(0);
  while (start.length < HEADER_MAX_BYTES) {
    const { done, value } = await bytes.next();
    if (done) throw noSound();
    start = Buffer.concat([start, value]);
    const header = readWavHeader(start);
    if (header === null) continue;
    const channels = header.format.readUInt16LE(CHANNELS_AT);
    if (channels > CHANNELS_MAX) {
      throw new AudioError(`The audio may have at most ${CHANNELS_MAX} channels; it has ${channels}.`);
    }
    return { channels, rest: after(start.subarray(header.offset), bytes) };
  }
  throw new Error('ffmpeg wrote no WAV header');
}

async function* after(first: Buffer, bytes: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* bytes;
}

function separated(frames: Pcm, channels: number): Pcm[] {
  const length = frames.length / channels;
  return Array.from({ length: channels }, (_, channel) => {
    const samples = new Int16Array(length);
    for (let frame = 0; frame < length; frame += 1) samples[frame] = frames[frame * channels + channel]!;
    return samples;
  });
}
