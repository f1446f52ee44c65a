import { type Pcm, SAMPLE_RATE } from './engine.ts';

/**
 * Samples below this are silence: 54 dB below full scale, which is quieter than any voice. For digital silence
 * pocketsphinx returns the word "in" with high confidence, and other engines return whole sentences.
 */
export const SILENCE_MAX_AMPLITUDE = 64;
// No speech sound is shorter. Some models fail on so few frames, and the OpenAI API refuses them.
const SHORTEST_SECONDS = 0.1;

/** One second of a low tone: a test signal that holdsNoSpeech does not filter out. */
export function hum(): Pcm {
  return Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 1000 * Math.sin(at / 20));
}

/** True for a piece that is too short to contain speech, or silent throughout: no engine is called for it. */
export function holdsNoSpeech(piece: Pcm): boolean {
  if (piece.length < SHORTEST_SECONDS * SAMPLE_RATE) return true;
  return piece.every((sample) => Math.abs(sample) < SILENCE_MAX_AMPLITUDE);
}
