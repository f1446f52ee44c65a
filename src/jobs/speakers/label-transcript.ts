import type { Segment, Transcript } from '../../engines/engine.ts';
import { meanConfidence } from '../../engines/segments.ts';
import { assignVoices, runsOf, type Spoken } from '../../rules/speakers/assign-voices.ts';
import { labelVoices } from '../../rules/speakers/labels.ts';
import { secondsOfVoices, type Turn } from '../../rules/speakers/turn.ts';
import { partsOfText, placeWords } from '../../rules/text/word-places.ts';

/** A speaker of a job, and how long it speaks. */
export type SpeakerTime = { id: string; seconds: number };

export type LabelledTranscript = { transcript: Transcript; speakers: SpeakerTime[] };

type Voice = number | null;
type VoicedSegment = { segment: Segment; voice: Voice; wordVoices: Voice[] };

/**
 * The transcript with a speaker on each segment and word. Segments in which the speaker changes are divided. Speakers
 * are named in the order of their first words; voices without words are left out. Without turns every speaker is null.
 * @param turns   in the order of their starts
 * @param prefix  stands before each name
 */
export function labelTranscript(given: Transcript, turns: readonly Turn[], prefix = ''): LabelledTranscript {
  const spoken = given.segments.flatMap(spokenParts);
  const voices = assignVoices(spoken, turns);
  let at = 0;
  const parts = given.segments.flatMap((segment) => {
    const count = Math.max(1, segment.words.length);
    const own = voices.slice(at, at + count);
    at += count;
    return divide(segment, own);
  });
  const known = parts.map(({ voice }) => voice).filter((voice) => voice !== null);
  const labels = new Map<Voice, string>([...labelVoices(known)].map(([voice, label]) => [voice, prefix + label]));
  const seconds = secondsOfVoices(turns);
  return {
    transcript: { ...given, segments: parts.map((part) => labelled(part, labels)) },
    speakers: [...labels].map(([voice, id]) => ({ id, seconds: rounded(seconds.get(voice!) ?? 0) })),
  };
}

function spokenParts(segment: Segment): Spoken[] {
  return segment.words.length > 0 ? segment.words : [{ ...segment, isSegment: true }];
}

/** One part for each run of words with the same voice. A text in which the words are not found stays whole. */
function divide(segment: Segment, voices: Voice[]): VoicedSegment[] {
  const runs = runsOf(voices);
  if (runs.length === 1) return [{ segment, voice: voices[0]!, wordVoices: voices }];
  const texts = textsOfRuns(segment, runs);
  if (texts === null) {
    const voice = mainVoice(segment, voices);
    return [{ segment, voice, wordVoices: voices.map(() => voice) }];
  }
  return runs.map(({ from, end }, at) => {
    const words = segment.words.slice(from, end);
    const part = {
      ...segment,
      text: texts[at]!,
      startSeconds: at === 0 ? segment.startSeconds : words[0]!.startSeconds,
      endSeconds: at === runs.length - 1 ? segment.endSeconds : words.at(-1)!.endSeconds,
      confidence: meanConfidence(words.map(({ confidence }) => confidence)),
      words,
    };
    return { segment: part, voice: voices[from]!, wordVoices: voices.slice(from, end) };
  });
}

/** The text of each run; null when the words are not those of the text. */
function textsOfRuns({ text, words }: Segment, runs: { from: number; end: number }[]): string[] | null {
  const places = placeWords(text, words);
  if (places === null) return null;
  const parts = partsOfText(text, places);
  return runs.map(({ from, end }) => parts.slice(from, end).join('').trim());
}

/** The voice with the most time. */
function mainVoice({ words }: Segment, voices: Voice[]): Voice {
  const turns = words.map(({ startSeconds, endSeconds }, at) => ({ startSeconds, endSeconds, voice: voices[at]! }));
  const [most] = [...secondsOfVoices(turns)].sort(([, one], [, other]) => other - one);
  return most![0];
}

function labelled({ segment, voice, wordVoices }: VoicedSegment, labels: Map<Voice, string>): Segment {
  const words = segment.words.map((word, at) => ({ ...word, speaker: labels.get(wordVoices[at]!) ?? null }));
  return { ...segment, speaker: labels.get(voice) ?? null, words };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1000) / 1000;
}
