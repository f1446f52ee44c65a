import { readSpeechSample } from '../calibration/speech-samples.ts';
import type { Engine, Pcm } from '../engine.ts';

const SAMPLE_SECONDS = 3;
// A model that is being loaded may take longer: then a later probe passes.
const TIMEOUT_MS = 30_000;

let sample: Promise<Pcm> | null = null;

/**
 * Resolves when the engine has transcribed a sample of real speech.
 * @throws EngineError  when it fails to
 */
export async function probe(engine: Engine, signal: AbortSignal): Promise<void> {
  sample ??= readSpeechSample(SAMPLE_SECONDS).then(({ pcm }) => pcm);
  await engine.transcribe(await sample, { language: null, timeoutMs: TIMEOUT_MS, signal });
}
