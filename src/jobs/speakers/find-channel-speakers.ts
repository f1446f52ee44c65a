import type { Transcript } from '../../engines/engine.ts';
import { byStart } from '../../rules/channels/segment-order.ts';
import { findSpeakers, type SpeakerSearch } from './find-speakers.ts';
import type { SpeakerTime } from './label-transcript.ts';
import type { Recording } from './recording.ts';

/** A channel and its audio; null for all channels mixed. */
export type RecordedChannel = { channel: number | null; recording: Recording };

type Labelled = { transcript: Transcript; speakers: SpeakerTime[] | null };

/**
 * The transcript with the speakers of each channel, named after it: `0A`, `1A`. Mixed channels are searched as one,
 * without the channel in the names. Where the speakers of no channel can be found, they are null, and each time there
 * is a warning.
 */
export async function findChannelSpeakers(
  transcript: Transcript,
  channels: readonly RecordedChannel[],
  { onProgress, ...search }: Omit<SpeakerSearch, 'recording' | 'prefix'>,
): Promise<Labelled> {
  const found: Labelled[] = [];
  for (const { channel, recording } of channels) {
    const own = transcript.segments.filter((segment) => channel === null || segment.channel === channel);
    const prefix = channel === null ? '' : String(channel);
    const reached = found.length;
    const report = (share: number) => onProgress((reached + share) / channels.length);
    const part = { ...transcript, segments: own };
    found.push(await findSpeakers(part, { ...search, recording, prefix, onProgress: report }));
  }
  const speakers = found.flatMap((part) => part.speakers ?? []);
  return {
    transcript: { ...transcript, segments: found.flatMap((part) => part.transcript.segments).sort(byStart) },
    speakers: found.every((part) => part.speakers === null) ? null : speakers,
  };
}
