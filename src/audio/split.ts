import type { Pcm } from '../engines/engine.ts';
import { SAMPLE_RATE } from '../engines/engine.ts';

/** A stretch of the audio of at most 30 s; `samples` is its own memory, `isWhole` says that there is no other piece. */
export type Piece = { startSeconds: number; samples: Pcm; isWhole: boolean };

/** Engines take at most so much at once (attention is quadratic in length); a cut before 20 s would only make more pieces. */
const PIECE_MAX_SECONDS = 30;
const CUT_FROM = 20 * SAMPLE_RATE;
/** Loudness is judged in frames of 10 ms, and a place to cut is twenty of them: longer than the stop inside of a "t". */
const FRAME = SAMPLE_RATE / 100;
const FRAMES_PER_WINDOW = 20;
/** A voice detector finds its bearings in so much before. */
const LEAD_IN = SAMPLE_RATE / 2;
/** Where it hears speech throughout, a place counts as so much louder; more would let its errors outweigh what is heard. */
const SPEECH_FACTOR = 2;

type Stretch = { startSeconds: number; endSeconds: number };
/** Where speech is in some seconds of audio; null where that cannot be told. */
export type FindSpeech = (audio: Pcm) => Promise<Stretch[] | null>;

/**
 * Pieces that, laid end to end, are the audio sample for sample. Each but the last is 20 to 30 s long and ends in the middle
 * of the quietest 200 ms there, as far as a voice detector hears no speech in them; audio of up to 30 s stays whole. An
 * engine that hears less at once sets `maxSeconds`.
 * Source: docs/decisions/0006-cutting-long-audio.md
 */
export async function* cutPieces(
  pcm: AsyncIterable<Pcm>,
  findSpeech: FindSpeech = async () => null,
  maxSeconds = PIECE_MAX_SECONDS,
): AsyncGenerator<Piece> {
  const pieceMax = Math.round(maxSeconds * SAMPLE_RATE);
  let start = 0;
  let held: Pcm = new Int16Array(0);
  for await (const chunk of pcm) {
    held = joined(held, chunk);
    // Only what lies past the longest piece shows that this is not the last piece.
    while (held.length > pieceMax) {
      const speech = await findSpeech(held.slice(CUT_FROM - LEAD_IN, pieceMax));
      const end = findCut(held, pieceMax, speech ?? []);
      yield { startSeconds: start / SAMPLE_RATE, samples: held.slice(0, end), isWhole: false };
      start += end;
      held = held.slice(end);
    }
  }
  if (held.length > 0) yield { startSeconds: start / SAMPLE_RATE, samples: held, isWhole: start === 0 };
}

/** The sample in the middle of the quietest window; the latest of equals, so that silence makes long pieces. */
function findCut(samples: Pcm, pieceMax: number, speech: Stretch[]): number {
  const frames = Array.from({ length: Math.floor((pieceMax - CUT_FROM) / FRAME) }, (_, frame) => ({
    energy: energyOf(samples, CUT_FROM + frame * FRAME),
    isSpeech: isIn(speech, (LEAD_IN + frame * FRAME) / SAMPLE_RATE),
  }));
  let quietest = { loudness: Number.POSITIVE_INFINITY, frame: 0 };
  for (let frame = 0; frame + FRAMES_PER_WINDOW <= frames.length; frame += 1) {
    const loudness = loudnessOf(frames.slice(frame, frame + FRAMES_PER_WINDOW));
    if (loudness <= quietest.loudness) quietest = { loudness, frame };
  }
  return CUT_FROM + (quietest.frame + FRAMES_PER_WINDOW / 2) * FRAME;
}

function loudnessOf(frames: { energy: number; isSpeech: boolean }[]): number {
  const energy = frames.reduce((sum, frame) => sum + frame.energy, 0);
  const speechShare = frames.filter(({ isSpeech }) => isSpeech).length / frames.length;
  return energy * SPEECH_FACTOR ** speechShare;
}

function isIn(stretches: Stretch[], seconds: number): boolean {
  return stretches.some(({ startSeconds, endSeconds }) => seconds >= startSeconds && seconds < endSeconds);
}

/**
 * The energy of a frame where speech differs most from noise: what pairs of samples differ by leaves out the rumble of
 * engines and wind below speech, and much of the hiss above it.
 */
function energyOf(samples: Pcm, from: number): number {
  let energy = 0;
  for (let at = from; at < from + FRAME; at += 2) {
    energy += (samples[at]! + samples[at + 1]! - samples[at - 1]! - samples[at - 2]!) ** 2;
  }
  return energy;
}

function joined(one: Pcm, other: Pcm): Pcm {
  const both = new Int16Array(one.length + other.length);
  both.set(one);
  both.set(other, one.length);
  return both;
}
