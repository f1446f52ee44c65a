import { readOnce } from '../../platform/read-at-most-every.ts';
import { spokenLetters } from '../../rules/transcript/text-amount.ts';
import { readSpeechSample } from '../calibration/speech-samples.ts';
import { type Engine, EngineError } from '../engine.ts';

const SAMPLE_SECONDS = 3;
// A model that is being loaded may take longer: then a later probe passes.
const TIMEOUT_MS = 30_000;

const readSample = readOnce(() => readSpeechSample(SAMPLE_SECONDS));

/** Shown to clients and in /readyz. */
export const NO_WORDS =
  'The speech engine gives no words for speech. Check its model and its log; it is tried again by itself.';

/**
 * Resolves when the engine has given words for a sample of real English speech: any words, since it may know another
 * language.
 * @throws EngineError  when it gives none, or fails
 */
export async function probe(engine: Engine, signal: AbortSignal): Promise<void> {
  const { pcm } = await readSample();
  const { segments } = await engine.transcribe(pcm, { language: null, timeoutMs: TIMEOUT_MS, signal });
  if (segments.some(({ text }) => spokenLetters(text) > 0)) return;
  throw new EngineError('engine_error', NO_WORDS, { failure: { kind: 'words' } });
}
