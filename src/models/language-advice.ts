import { modelLanguage } from '../rules/jobs/language.ts';
import { CATALOGUE } from './catalogue.ts';

/** Knows the most languages of the models that need no hub. */
const EVERY_LANGUAGE = 'whisper-base';

/**
 * What the operator types to add a language that an engine does not know, as a sentence; null where no model of the
 * catalogue that needs no hub knows it.
 * @param engine  the one that transcribes now
 * @param setting  that names the plan's engine
 * @param isNamed  whether the setting is set: then a model that is pulled is not used by itself
 */
export function languageAdvice(
  language: string,
  { engine, setting, isNamed, command }: { engine: string; setting: string; isNamed: boolean; command: string },
): string | null {
  const [wanted, current] = [EVERY_LANGUAGE, engine].map((name) => CATALOGUE.findIndex((model) => model.name === name));
  const { name, languages } = CATALOGUE[wanted!]!;
  if (modelLanguage(language, languages) === null) return null;
  // The best model that is pulled is used, in the order of the catalogue; those that it does not name come last.
  const isUsed = !isNamed && (current === -1 || current! > wanted!);
  const pull = `${command} models pull ${name}`;
  return `The operator of the service can add it: ${pull}${isUsed ? '' : `, and ${setting}=sherpa-onnx:${name}`}`;
}
