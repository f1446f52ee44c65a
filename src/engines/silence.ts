import type { Pcm } from './engine.ts';
import { SAMPLE_RATE } from './engine.ts';

// 54 dB under full scale: no voice. Asked about plain zeros, pocketsphinx is sure to have heard "in", and others invent whole
// sentences.
const SILENCE_MAX_AMPLITUDE = 64;
// Below this there is no sound of speech; some models fail on so few frames, and the OpenAI API refuses them.
const SHORTEST_SECONDS = 0.1;

/** One second that every engine has to work on: a hum. */
export function hum(): Pcm {
  return Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 1000 * Math.sin(at / 20));
}

/** True for a piece that no engine needs to be asked about: too short for a sound of speech, or silent throughout. */
export function holdsNoSpeech(piece: Pcm): boolean {
  if (piece.length < SHORTEST_SECONDS * SAMPLE_RATE) return true;
  return piece.every((sample) => Math.abs(sample) < SILENCE_MAX_AMPLITUDE);
}
