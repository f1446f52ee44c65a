import { CATALOGUE, VOICE_DETECTOR } from './catalogue.ts';
import { isPulled, pulledModels } from './folder.ts';
import { isSpeechModel, type Model } from './model.ts';

/**
 * Which of the models that a service fetches by itself are missing: one that transcribes, and the voice detector. A
 * folder that is not in the catalogue counts as a model that transcribes.
 * @param wantsSpeech  false: both engines are named
 */
export async function isMissing({
  modelsDir,
  wantsSpeech,
  catalogue = CATALOGUE,
}: {
  modelsDir: string;
  wantsSpeech: boolean;
  catalogue?: readonly Model[];
}): Promise<{ speech: boolean; detector: boolean }> {
  const others = catalogue.filter((model) => !isSpeechModel(model)).map(({ name }) => name);
  const names = wantsSpeech ? await pulledModels(modelsDir) : [];
  return {
    speech: wantsSpeech && names.every((name) => others.includes(name)),
    detector: !(await isPulled(modelsDir, VOICE_DETECTOR)),
  };
}
