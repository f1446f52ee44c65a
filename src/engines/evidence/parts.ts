import { clipTo, hullOf, type Interval, shiftBy } from '../../rules/transcript/intervals.ts';
import { dividePhrases, OVERLAP_SECONDS } from '../../rules/transcript/phrases.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { quietestPlace } from './quietest-place.ts';

/**
 * Audio that the engine is given at once.
 * @property startSeconds  from the start of the audio that it is a part of
 * @property speech        in seconds from the start of the part
 * @property isCertain     a voice detector found the speech
 * @property overlapsNext  the next part begins before the end of this one
 */
export type Part = {
  startSeconds: number;
  piece: Pcm;
  speech: Interval[];
  isCertain: boolean;
  overlapsNext: boolean;
};

/** Shorter audio is not divided: a word needs its neighbours. */
const DIVIDED_FROM_SECONDS = 3;
/** 30 dB: with both voices in its audio, an engine gives the words of the loud one only. */
const LOUDER_VOICE = 10 ** 3;

/** In seconds. */
export function lengthOf({ piece }: Part): number {
  return piece.length / SAMPLE_RATE;
}

/**
 * The phrases of some audio. Without a voice detector no audio is left out: speech under noise is not louder than the
 * noise.
 */
export function phrasesOf(whole: Part, maxSeconds: number): Part[] {
  const lengthSeconds = lengthOf(whole);
  const speech = whole.isCertain ? whole.speech : [{ startSeconds: 0, endSeconds: lengthSeconds }];
  const quietest = (range: Interval) => quietestSeconds(whole, range);
  const isApart = (one: Interval, next: Interval) => {
    const powers = [one, next].map((interval) => powerOf(whole, interval));
    return whole.isCertain && Math.max(...powers) >= LOUDER_VOICE * Math.min(...powers);
  };
  return dividePhrases(speech, { lengthSeconds, maxSeconds, quietest, isApart }).map((phrase) => {
    const [core] = shiftBy(phrase.startSeconds, [hullOf(phrase.speech)!]);
    return partOf(whole, phrase, core!);
  });
}

/** A part with margins of its own: words at its ends are heard whole. */
export function partAround(whole: Part, core: Interval): Part {
  const startSeconds = Math.max(0, core.startSeconds - OVERLAP_SECONDS);
  const endSeconds = Math.min(lengthOf(whole), core.endSeconds + OVERLAP_SECONDS);
  return partOf(whole, { startSeconds, endSeconds, overlapsNext: false }, core);
}

/** Two halves, cut at the quietest place; none where the part is too short to be divided. */
export function halvesOf(part: Part): Part[] {
  const seconds = lengthOf(part);
  if (seconds < DIVIDED_FROM_SECONDS) return [];
  const cut = quietestSeconds(part, { startSeconds: seconds / 3, endSeconds: (2 * seconds) / 3 });
  const overlapsNext = part.speech.some(({ startSeconds, endSeconds }) => startSeconds < cut && cut < endSeconds);
  const margin = overlapsNext ? OVERLAP_SECONDS : 0;
  const [left, right] = [
    { startSeconds: 0, endSeconds: cut },
    { startSeconds: cut, endSeconds: seconds },
  ] as const;
  return [
    partOf(part, { ...left, endSeconds: cut + margin, overlapsNext }, left),
    partOf(part, { ...right, startSeconds: cut - margin, overlapsNext: false }, right),
  ];
}

function quietestSeconds({ piece, speech }: Part, { startSeconds, endSeconds }: Interval): number {
  const range = {
    from: Math.round(startSeconds * SAMPLE_RATE),
    to: Math.min(piece.length, Math.round(endSeconds * SAMPLE_RATE)),
  };
  return quietestPlace(piece, range, speech) / SAMPLE_RATE;
}

/** The mean square of the samples, which are whole numbers. */
function powerOf({ piece }: Part, { startSeconds, endSeconds }: Interval): number {
  const samples = piece.subarray(Math.round(startSeconds * SAMPLE_RATE), Math.round(endSeconds * SAMPLE_RATE));
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, samples.length);
}

/** @param core  what of the audio is in no other part */
function partOf(whole: Part, audio: Interval & Pick<Part, 'overlapsNext'>, core: Interval): Part {
  const [from, to] = [audio.startSeconds, audio.endSeconds].map((seconds) => Math.round(seconds * SAMPLE_RATE));
  const speech = shiftBy(core.startSeconds, clipTo(core, whole.speech));
  return {
    startSeconds: from! / SAMPLE_RATE,
    piece: whole.piece.slice(from, to),
    speech: clipTo(audio, speech),
    isCertain: whole.isCertain,
    overlapsNext: audio.overlapsNext,
  };
}
