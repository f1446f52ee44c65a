import { type Pcm, SAMPLE_RATE } from './engine.ts';

/**
 * Samples below this are silence where no voice detector says more: 54 dB below full scale, which is quieter than usual
 * voices, and louder than the noise of most microphones.
 */
export const SILENCE_MAX_AMPLITUDE = 64;
/**
 * Samples below this are digital silence, with its dither: 72 dB below full scale. Models understand speech that is
 * 12 dB louder, and return whole sentences for silence.
 */
const DIGITAL_SILENCE_MAX_AMPLITUDE = 8;
// No speech sound is shorter. Some models fail on so few frames, and the OpenAI API refuses them.
const SHORTEST_SECONDS = 0.1;

/** One second of a low tone: a test signal that holdsNoSpeech does not filter out. */
export function testTone(): Pcm {
  return Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 1000 * Math.sin(at / 20));
}

/**
 * True for a piece that is too short to contain speech, or digital silence throughout: no engine is called for it. What
 * is louder is for the voice detector to judge.
 */
export function holdsNoSpeech(piece: Pcm): boolean {
  if (piece.length < SHORTEST_SECONDS * SAMPLE_RATE) return true;
  return piece.every((sample) => Math.abs(sample) < DIGITAL_SILENCE_MAX_AMPLITUDE);
}
