import { type Interval, shiftBy } from '../../rules/transcript/intervals.ts';
import { joinUntranscribed } from '../../rules/transcript/untranscribed.ts';
import type { Segment, Transcript } from '../engine.ts';

/** What is transcribed of some audio, and what is known to be wrong with it. Times are seconds from its start. */
export type Heard = {
  /** Fit to be stored. */
  transcript: Transcript;
  /** Detected speech for which the engine gave no text, after further tries. */
  untranscribed: Interval[];
  /** Where the engine repeated itself as no speaker does; one repetition is in the text. */
  repetitions: Interval[];
};

/** The text of all segments. */
export function textOf({ segments }: Transcript): string {
  return segments.map(({ text }) => text.trim()).join(' ');
}

/** With all times later by this number of seconds. */
export function placeHeard(startSeconds: number, { transcript, ...found }: Heard): Heard {
  const shift = <Timed extends Segment | Segment['words'][number]>(part: Timed): Timed => ({
    ...part,
    startSeconds: part.startSeconds + startSeconds,
    endSeconds: part.endSeconds + startSeconds,
  });
  const segments = transcript.segments.map((one) => ({ ...shift(one), words: one.words.map(shift) }));
  return {
    transcript: { ...transcript, segments },
    untranscribed: shiftBy(startSeconds, found.untranscribed),
    repetitions: shiftBy(startSeconds, found.repetitions),
  };
}

/** The parts in their order; the language is that of the part with the longest text. */
export function joinHeard(parts: Heard[], language: string | null): Heard {
  const transcripts = parts.map(({ transcript }) => transcript);
  const segments = transcripts.flatMap((transcript) => transcript.segments);
  const known = transcripts.filter((transcript) => transcript.language !== null && transcript.segments.length > 0);
  const [longest] = known.toSorted((one, other) => textOf(other).length - textOf(one).length);
  const isCut = transcripts.some((transcript) => transcript.isCut);
  return {
    transcript: { segments, language: longest?.language ?? language, ...(isCut && { isCut }) },
    untranscribed: joinUntranscribed(
      parts.flatMap(({ untranscribed }) => untranscribed),
      segments,
    ),
    repetitions: parts.flatMap(({ repetitions }) => repetitions),
  };
}
