import { modelLanguage } from '../rules/jobs/language.ts';
import { findModel } from './catalogue.ts';

/** Knows the most languages of the models that need no hub. */
export const EVERY_LANGUAGE = 'whisper-base';

/**
 * What the operator types to add a language that a plan's engine does not know, as a sentence; null where no model of
 * the catalogue that needs no hub knows it.
 * @param setting  that names the plan's engine
 * @param isNamed  whether the setting is set: then a model that is pulled is not used by itself
 */
export function languageAdvice(
  language: string,
  { setting, isNamed, command }: { setting: string; isNamed: boolean; command: string },
): string | null {
  const { name, languages } = findModel(EVERY_LANGUAGE);
  if (modelLanguage(language, languages) === null) return null;
  const pull = `${command} models pull ${name}`;
  return `The operator of the service can add it: ${pull}${isNamed ? `, and ${setting}=sherpa-onnx:${name}` : ''}`;
}
