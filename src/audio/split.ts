import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { quietestPlace } from '../engines/evidence/quietest-place.ts';
import { joinPcm } from '../engines/join-pcm.ts';
import { clipTo, type Interval, shiftBy } from '../rules/transcript/intervals.ts';
import { OVERLAP_SECONDS } from '../rules/transcript/phrases.ts';
import { type DetectedAudio, detectAhead, type FindSpeech } from './detect-ahead.ts';

/**
 * A part of the audio of at most 30 s.
 * @property speech      detected in it, in seconds from its start: what is in the piece before too is left out; null
 *                       where nothing was detected
 * @property cutSeconds  where it ends for the text, in seconds from the start of the audio, when it overlaps the next
 *                       piece: there is no pause; else null
 * @property isWhole     it is the only piece
 */
export type Piece = {
  startSeconds: number;
  samples: Pcm;
  speech: Interval[] | null;
  cutSeconds: number | null;
  isWhole: boolean;
};

/** The limit of the engines (attention is quadratic in length). */
export const PIECE_MAX_SECONDS = 30;
/** Of the longest piece: earlier cuts would only give more pieces. */
const CUT_FROM_SHARE = 2 / 3;
const OVERLAP = OVERLAP_SECONDS * SAMPLE_RATE;
/** Speech that goes on in the next block is found so late there. */
const BLOCK_GAP_SECONDS = 0.1;

/**
 * Consecutive pieces of the audio. All but the last are 20 to 30 s long and end in the middle of the quietest window of
 * 200 ms in that range, where windows with detected speech count as louder. Where the cut is in detected speech, two
 * pieces overlap by about a second. Audio of up to 30 s stays whole. `maxSeconds` is for engines with a lower limit:
 * cuts are in the last third of it. Source: docs/decisions/0006-cutting-long-audio.md
 * @param findSpeech  null without a voice detector
 */
export async function* cutPieces(
  pcm: AsyncIterable<Pcm>,
  findSpeech: FindSpeech | null = null,
  maxSeconds = PIECE_MAX_SECONDS,
): AsyncGenerator<Piece> {
  const pieceMax = Math.round(maxSeconds * SAMPLE_RATE);
  const range = { from: Math.round(pieceMax * CUT_FROM_SHARE), to: pieceMax };
  let start = 0;
  // Samples at the start of what is held that are in the last piece too.
  let repeated = 0;
  let held: DetectedAudio[] = [];
  for await (const block of findSpeech ? detectAhead(pcm, findSpeech) : undetected(pcm)) {
    held.push(block);
    // More samples than the longest piece show that this is not the last one.
    while (samplesIn(held) > pieceMax) {
      const audio = joinDetected(held);
      const cut = quietestPlace(audio.samples, range, audio.speech ?? []);
      const overlap = isInSpeech(audio, cut) ? OVERLAP : 0;
      const samples = audio.samples.slice(0, Math.min(cut + overlap, pieceMax));
      const cutSeconds = overlap > 0 ? (start + cut) / SAMPLE_RATE : null;
      const speech = speechIn(audio, { from: repeated, to: cut });
      yield { startSeconds: start / SAMPLE_RATE, samples, speech, cutSeconds, isWhole: false };
      repeated = overlap;
      held = withoutStart(held, cut - overlap);
      start += cut - overlap;
    }
  }
  if (samplesIn(held) === 0) return;
  const audio = joinDetected(held);
  const speech = speechIn(audio, { from: repeated, to: audio.samples.length });
  const last = { startSeconds: start / SAMPLE_RATE, samples: audio.samples, speech };
  yield { ...last, cutSeconds: null, isWhole: start === 0 };
}

/** The position in the audio after a piece's last sample. */
export function endSample({ startSeconds, samples }: Pick<Piece, 'startSeconds' | 'samples'>): number {
  return Math.round(startSeconds * SAMPLE_RATE) + samples.length;
}

async function* undetected(pcm: AsyncIterable<Pcm>): AsyncGenerator<DetectedAudio> {
  for await (const samples of pcm) yield { samples, speech: null };
}

function samplesIn(held: DetectedAudio[]): number {
  return held.reduce((length, { samples }) => length + samples.length, 0);
}

function isInSpeech({ speech }: DetectedAudio, cut: number): boolean {
  const seconds = cut / SAMPLE_RATE;
  return speech?.some(({ startSeconds, endSeconds }) => startSeconds < seconds && seconds < endSeconds) ?? false;
}

/** In seconds from the start of the audio. */
function speechIn({ speech }: DetectedAudio, { from, to }: { from: number; to: number }): Interval[] | null {
  const part = { startSeconds: from / SAMPLE_RATE, endSeconds: to / SAMPLE_RATE };
  return speech && shiftBy(part.startSeconds, clipTo(part, speech));
}

function joinDetected(blocks: DetectedAudio[]): DetectedAudio {
  const samples = joinPcm(blocks.map((block) => block.samples));
  if (blocks.some(({ speech }) => speech === null)) return { samples, speech: null };
  const joined: Interval[] = [];
  let blockSeconds = 0;
  for (const block of blocks) {
    for (const interval of shiftBy(blockSeconds, block.speech!)) {
      const last = joined.at(-1);
      if (last && interval.startSeconds - last.endSeconds < BLOCK_GAP_SECONDS) last.endSeconds = interval.endSeconds;
      else joined.push(interval);
    }
    blockSeconds += block.samples.length / SAMPLE_RATE;
  }
  return { samples, speech: joined };
}

function withoutStart(blocks: DetectedAudio[], samples: number): DetectedAudio[] {
  let left = samples;
  return blocks.flatMap((block) => {
    const from = Math.min(left, block.samples.length);
    left -= from;
    if (from === block.samples.length) return [];
    return [{ samples: block.samples.subarray(from), speech: speechAfter(block, from) }];
  });
}

function speechAfter({ samples, speech }: DetectedAudio, from: number): Interval[] | null {
  const rest = { startSeconds: from / SAMPLE_RATE, endSeconds: samples.length / SAMPLE_RATE };
  return speech && clipTo(rest, speech);
}
