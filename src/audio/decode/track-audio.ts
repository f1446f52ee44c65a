import type { Pcm } from '../../engines/engine.ts';
import { type ChannelFindings, compareChannels } from '../distinct-channels.ts';
import { decodePcm } from './decode.ts';
import { decodeChannels } from './decode-channels.ts';
import type { DecodeOptions } from './decode-options.ts';

/**
 * What is transcribed of an audio track.
 * @property channels  their numbers in the track; one, 0, where all channels are mixed
 * @property chunks    the samples of each of the channels, decoded only as fast as they are consumed
 * @property findings  null where the channels are mixed
 */
export type TrackAudio = {
  channels: readonly number[];
  chunks: AsyncIterable<Pcm[]>;
  findings: ChannelFindings | null;
};

/** All channels of a track, mixed into one. */
export function openMixed(path: string, options: DecodeOptions): TrackAudio {
  return { channels: [0], chunks: asOneChannel(decodePcm(path, options)), findings: null };
}

/**
 * The distinct channels of a track, each on its own. The track is decoded twice: once to compare its channels, and then
 * only the distinct ones, so that equal channels cost nothing and no decoded audio is stored. Decoding takes a small
 * part of the time of a transcription.
 * @throws AudioError, AudioGoneError  as `decodeChannels`
 */
export async function openChannels(path: string, options: DecodeOptions): Promise<TrackAudio> {
  const findings = await compareChannels(decodeChannels(path, null, options));
  if (findings.channels === 1) return openMixed(path, options);
  const { distinct } = findings;
  return { channels: distinct, chunks: decodeChannels(path, distinct, options), findings };
}

async function* asOneChannel(pcm: AsyncIterable<Pcm>): AsyncGenerator<Pcm[]> {
  for await (const chunk of pcm) yield [chunk];
}
