import { heardShare } from '../../rules/transcript/heard-words.ts';
import { type Engine, EngineError } from '../engine.ts';
import { readSpeechSample, SAMPLE_SECONDS } from './speech-samples.ts';

/**
 * What a model did with recorded speech.
 * @property isCalibrated     it gave the words of at least one sample; a model of test tones gives none
 * @property maxPieceSeconds  the longest sample of which it gave the words; null where that is the longest one of all,
 *                            and where it gave none
 */
export type Calibration = { isCalibrated: boolean; maxPieceSeconds: number | null };

type Probed = Pick<Engine, 'transcribe' | 'languages'>;

/** Models with a word error rate of 25 % pass; a text that lacks a part of the speech does not. */
const HEARD_MIN_SHARE = 0.6;
// A model of 600 MB takes 10 s for the longest sample on two slow cores.
const TIMEOUT_MS = 120_000;

/**
 * Finds the longest audio of which a model gives the words: some decoders give no text, or only that of the start, for
 * longer audio, without an error. The longest sample comes first, since most models transcribe it.
 */
export async function calibrate(engine: Probed): Promise<Calibration> {
  for (const seconds of SAMPLE_SECONDS.toReversed()) {
    if (!(await hearsSpeech(engine, seconds))) continue;
    return { isCalibrated: true, maxPieceSeconds: seconds === SAMPLE_SECONDS.at(-1) ? null : seconds };
  }
  return { isCalibrated: false, maxPieceSeconds: null };
}

/** A model that knows no English is not judged by the words: any text counts. */
async function hearsSpeech(engine: Probed, seconds: number): Promise<boolean> {
  const sample = await readSpeechSample(seconds);
  const signal = new AbortController().signal;
  try {
    const { segments } = await engine.transcribe(sample.pcm, { language: null, timeoutMs: TIMEOUT_MS, signal });
    const text = segments.map((segment) => segment.text).join(' ');
    const knowsEnglish = engine.languages?.includes('en') ?? true;
    return knowsEnglish ? heardShare(sample.text, text) >= HEARD_MIN_SHARE : /\p{L}/u.test(text);
  } catch (error) {
    // Too long for this model, or for this machine.
    if (error instanceof EngineError && error.failure.kind !== 'start') return false;
    throw error;
  }
}
