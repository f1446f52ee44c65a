import { type Interval, totalSeconds } from '../../rules/transcript/intervals.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { joinPcm } from '../join-pcm.ts';
import type { VoiceDetector } from '../vad/vad.ts';

const FIRST_SAMPLES = 4 * SAMPLE_RATE;
/** The detector needs the start of a word: shorter audio is given to it several times in a row. */
const SHORT_SAMPLES = SAMPLE_RATE;
/** Of speech that is found in that, the least: of words of 0.6 s it finds 95 %, of knocks and music none. */
const SHORT_SPEECH_SECONDS = 0.1;

/** The audio of a segment, which grows while somebody speaks. */
export class SegmentAudio {
  length = 0;
  #samples = new Int16Array(FIRST_SAMPLES);

  write(frame: Pcm): void {
    if (this.length + frame.length > this.#samples.length) {
      const grown = new Int16Array(2 * this.#samples.length);
      grown.set(this.#samples);
      this.#samples = grown;
    }
    this.#samples.set(frame, this.length);
    this.length += frame.length;
  }

  /** A copy of its first seconds, or of all. */
  first(seconds = Number.POSITIVE_INFINITY): Pcm {
    return this.#samples.slice(0, Math.min(this.length, Math.round(seconds * SAMPLE_RATE)));
  }
}

/**
 * The speech in a segment, as of a voice detector: of less than a second, all is speech or nothing is. Null without a
 * detector.
 */
export async function findSegmentSpeech(
  detector: Pick<VoiceDetector, 'find'> | null,
  piece: Pcm,
  signal: AbortSignal,
): Promise<Interval[] | null> {
  if (detector === null) return null;
  if (piece.length >= SHORT_SAMPLES) return await detector.find(piece, signal);
  const times = Math.max(2, Math.ceil(SHORT_SAMPLES / Math.max(1, piece.length)));
  const found = await detector.find(joinPcm(Array.from({ length: times }, () => piece)), signal);
  if (found === null) return null;
  const whole = { startSeconds: 0, endSeconds: piece.length / SAMPLE_RATE };
  return totalSeconds(found) >= SHORT_SPEECH_SECONDS ? [whole] : [];
}
