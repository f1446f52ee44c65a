import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { AudioError, tooLong } from '../audio-error.ts';
import { CHANNELS_MAX } from '../media/ffprobe-answer.ts';
import { decodeSandboxed } from './decode.ts';
import type { DecodeOptions } from './decode-options.ts';
import type { Frames } from './fill-holes.ts';

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
  const filter = selected === null ? null : selectionFilter(selected);
  let length = 0;
  let count: number | null = null;
  for await (const frames of decodeSandboxed(path, filter, options)) {
    signal?.throwIfAborted();
    const { channels, samples } = frames;
    if (channels > CHANNELS_MAX) {
      throw new AudioError(`The audio may have at most ${CHANNELS_MAX} channels; it has ${channels}.`);
    }
    count ??= channels;
    length += samples.length / channels;
    if (length > maxAudioSeconds * SAMPLE_RATE) throw tooLong(maxAudioSeconds);
    yield separated(frames, count);
  }
}

/**
 * ffmpeg's `pan` copies channels by their number and never mixes them, whatever loudspeakers the file assigns them to.
 */
function selectionFilter(channels: readonly number[]): string {
  return [`pan=${channels.length}c`, ...channels.map((channel, position) => `c${position}=c${channel}`)].join('|');
}

/**
 * As many channels as the first recording of the file has. A later one that has fewer is silent on the others; of one
 * that has more, the last one holds the rest.
 */
function separated({ channels, samples: interleaved }: Frames, count: number): Pcm[] {
  const length = interleaved.length / channels;
  return Array.from({ length: count }, (_, channel) => {
    const samples = new Int16Array(length);
    const end = channel === count - 1 ? channels : Math.min(channels, channel + 1);
    for (let frame = 0; frame < length && channel < end; frame += 1) {
      const of = frame * channels;
      for (let other = channel; other < end; other += 1) samples[frame]! += interleaved[of + other]! / (end - channel);
    }
    return samples;
  });
}
