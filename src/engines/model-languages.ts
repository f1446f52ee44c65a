import { CATALOGUE, EUROPEAN, WHISPER_LANGUAGES } from '../models/catalogue.ts';

/**
 * The codes of the languages that a model knows, in the model's own spelling; null where that cannot be told. A family
 * that takes the language as a setting always has a list: sherpa-onnx ends its process on a code that is not in it.
 * @param name  of the model's folder
 * @param metadata  of its encoder, or of its only file
 */
export function languagesOfModel(
  family: string,
  name: string,
  metadata: ReadonlyMap<string, string>,
): readonly string[] | null {
  switch (family) {
    case 'whisper':
      return whisperLanguages(name, metadata);
    case 'senseVoice':
      return ['zh', 'en', 'ja', 'ko', 'yue'];
    case 'canary':
      return /v2/i.test(name) ? EUROPEAN : ['en', 'de', 'es', 'fr'];
    default:
      return catalogued(name);
  }
}

/** The export writes down what the vocabulary knows: `yue` is in that of large-v3 only. */
function whisperLanguages(name: string, metadata: ReadonlyMap<string, string>): readonly string[] {
  if (metadata.get('is_multilingual') === '0' || /[.-]en\b/.test(name)) return ['en'];
  const codes = (metadata.get('all_language_codes') ?? '').split(',').filter((code) => code !== '');
  return codes.length > 0 ? codes : WHISPER_LANGUAGES;
}

/** A folder bears the name of the catalogue, or of the repository that it was copied from. */
function catalogued(name: string): readonly string[] | null {
  const model = CATALOGUE.find((known) => known.name === name || known.repository.endsWith(`/${name}`));
  return model && model.languages.length > 0 ? model.languages : null;
}
