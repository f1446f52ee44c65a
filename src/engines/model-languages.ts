import { EUROPEAN, WHISPER_LANGUAGES } from '../models/catalogue.ts';
import { cataloguedModel } from './catalogued-model.ts';

/**
 * The languages that a model knows, in its own codes; null when unknown. A family that takes the language as a setting
 * always has a list, because sherpa-onnx aborts its process for any other code.
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

/** The metadata lists the languages of the vocabulary: only that of large-v3 has `yue`. */
function whisperLanguages(name: string, metadata: ReadonlyMap<string, string>): readonly string[] {
  if (metadata.get('is_multilingual') === '0' || /[.-]en\b/.test(name)) return ['en'];
  const codes = (metadata.get('all_language_codes') ?? '').split(',').filter((code) => code !== '');
  return codes.length > 0 ? codes : WHISPER_LANGUAGES;
}

function catalogued(name: string): readonly string[] | null {
  const languages = cataloguedModel(name)?.languages ?? [];
  return languages.length > 0 ? languages : null;
}
