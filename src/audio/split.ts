import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { joinPcm } from '../engines/join-pcm.ts';

/** A part of the audio of at most 30 s; `isWhole` when it is the only piece. */
export type Piece = { startSeconds: number; samples: Pcm; isWhole: boolean };

/** The limit of the engines (attention is quadratic in length). Cuts before 20 s would only give more pieces. */
const PIECE_MAX_SECONDS = 30;
const CUT_FROM = 20 * SAMPLE_RATE;
/**
 * Energy is measured in frames of 10 ms. A cut needs a window of 20 frames, which is longer than the closure of a "t".
 */
const FRAME = SAMPLE_RATE / 100;
const FRAMES_PER_WINDOW = 20;
/** Audio before the range of cuts from which a voice detector starts up. */
const LEAD_IN = SAMPLE_RATE / 2;
/**
 * Factor on the energy of a window full of detected speech;
 * with a larger one the detector's errors would outweigh the energy.
 */
const SPEECH_FACTOR = 2;

type Interval = { startSeconds: number; endSeconds: number };
/** The intervals with speech in some seconds of audio; null when detection failed. */
export type FindSpeech = (audio: Pcm) => Promise<Interval[] | null>;

/**
 * Consecutive pieces of the audio. All but the last are 20 to 30 s long and end in the middle of the quietest window of
 * 200 ms in that range, where windows with detected speech count as louder. Audio of up to 30 s stays whole.
 * `maxSeconds` is for engines with a lower limit.
 * Source: docs/decisions/0006-cutting-long-audio.md
 */
export async function* cutPieces(
  pcm: AsyncIterable<Pcm>,
  findSpeech: FindSpeech = async () => null,
  maxSeconds = PIECE_MAX_SECONDS,
): AsyncGenerator<Piece> {
  const pieceMax = Math.round(maxSeconds * SAMPLE_RATE);
  let start = 0;
  let parts: Pcm[] = [];
  let heldSamples = 0;
  for await (const chunk of pcm) {
    parts.push(chunk);
    heldSamples += chunk.length;
    // More samples than the longest piece show that this is not the last one.
    while (heldSamples > pieceMax) {
      const held = joinPcm(parts);
      const speech = await findSpeech(held.slice(CUT_FROM - LEAD_IN, pieceMax));
      const end = findCut(held, pieceMax, speech ?? []);
      yield { startSeconds: start / SAMPLE_RATE, samples: held.slice(0, end), isWhole: false };
      start += end;
      parts = [held.subarray(end)];
      heldSamples -= end;
    }
  }
  if (heldSamples > 0) yield { startSeconds: start / SAMPLE_RATE, samples: joinPcm(parts), isWhole: start === 0 };
}

/** The position in the audio after a piece's last sample. */
export function endSample({ startSeconds, samples }: Piece): number {
  return Math.round(startSeconds * SAMPLE_RATE) + samples.length;
}

/** The sample in the middle of the quietest window; the latest of equal windows, so that silence gives long pieces. */
function findCut(samples: Pcm, pieceMax: number, speech: Interval[]): number {
  const frames = Array.from({ length: Math.floor((pieceMax - CUT_FROM) / FRAME) }, (_, frame) => ({
    energy: energyOf(samples, CUT_FROM + frame * FRAME),
    isSpeech: isInside(speech, (LEAD_IN + frame * FRAME) / SAMPLE_RATE),
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

function isInside(intervals: Interval[], seconds: number): boolean {
  return intervals.some(({ startSeconds, endSeconds }) => seconds >= startSeconds && seconds < endSeconds);
}

/**
 * The energy of a frame in the band of speech: the difference between pairs of samples filters out the rumble of
 * engines and wind below that band, and much of the hiss above it.
 */
function energyOf(samples: Pcm, from: number): number {
  let energy = 0;
  for (let at = from; at < from + FRAME; at += 2) {
    energy += (samples[at]! + samples[at + 1]! - samples[at - 1]! - samples[at - 2]!) ** 2;
  }
  return energy;
}
