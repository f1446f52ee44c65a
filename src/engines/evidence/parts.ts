import { clipTo, type Interval } from '../../rules/transcript/intervals.ts';
import { dividePhrases } from '../../rules/transcript/phrases.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { quietestPlace } from './quietest-place.ts';

/**
 * Audio that the engine is given at once.
 * @property startSeconds  from the start of the audio that it is a part of
 * @property speech        in seconds from the start of the part
 * @property isCertain     a voice detector found the speech
 */
export type Part = { startSeconds: number; piece: Pcm; speech: Interval[]; isCertain: boolean };

/** Shorter audio is not divided: a word needs its neighbours. */
const DIVIDED_FROM_SECONDS = 3;

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
  return dividePhrases(speech, { lengthSeconds, maxSeconds, quietest }).map((phrase) => partOf(whole, phrase));
}

/** Two halves, cut at the quietest place; none where the part is too short to be divided. */
export function halvesOf(part: Part): Part[] {
  const seconds = lengthOf(part);
  if (seconds < DIVIDED_FROM_SECONDS) return [];
  const cut = quietestSeconds(part, { startSeconds: seconds / 3, endSeconds: (2 * seconds) / 3 });
  return [partOf(part, { startSeconds: 0, endSeconds: cut }), partOf(part, { startSeconds: cut, endSeconds: seconds })];
}

function quietestSeconds({ piece, speech }: Part, { startSeconds, endSeconds }: Interval): number {
  const range = {
    from: Math.round(startSeconds * SAMPLE_RATE),
    to: Math.min(piece.length, Math.round(endSeconds * SAMPLE_RATE)),
  };
  return quietestPlace(piece, range, speech) / SAMPLE_RATE;
}

function partOf({ piece, speech, isCertain }: Part, { startSeconds, endSeconds }: Interval): Part {
  const [from, to] = [startSeconds, endSeconds].map((seconds) => Math.round(seconds * SAMPLE_RATE));
  return {
    startSeconds: from! / SAMPLE_RATE,
    piece: piece.slice(from, to),
    speech: clipTo({ startSeconds, endSeconds }, speech),
    isCertain,
  };
}
