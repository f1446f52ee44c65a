import type { EngineFeature } from '../engine.ts';

/** Families whose results have no times of tokens. Whisper has them where its decoder gives its attention. */
const WITHOUT_TIMES = new Set(['moonshine', 'canary', 'fireRedAsr', 'cohereTranscribe']);

/**
 * What a model gives besides its text.
 * @param names  of the model's folder, and of its type in the metadata
 * @param languages  that it knows; null when unknown
 * @param hasAttention  whether Whisper's decoder gives its attention to the audio
 */
export function featuresOfModel(
  family: string,
  names: readonly string[],
  languages: readonly string[] | null,
  hasAttention = false,
): EngineFeature[] {
  const features: EngineFeature[] = [];
  if (family === 'whisper' ? hasAttention : !WITHOUT_TIMES.has(family)) features.push('words');
  if (family === 'transducer') features.push('confidence');
  if (family === 'whisper' && canTranslate(names, languages)) features.push('translate');
  return features;
}

/** The turbo and distilled models were not trained to translate: they answer in the spoken language. */
function canTranslate(names: readonly string[], languages: readonly string[] | null): boolean {
  const isEnglishOnly = languages?.length === 1;
  return !isEnglishOnly && !names.some((name) => /turbo|distil/i.test(name));
}
