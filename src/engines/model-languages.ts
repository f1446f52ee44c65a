import { EUROPEAN, WHISPER_LANGUAGES } from '../models/catalogue.ts';
import { cataloguedModel } from './catalogued-model.ts';

/**
 * The languages that a model knows, in its own codes; null when unknown. A family that takes the language as a setting
 * always has a list, because sherpa-onnx aborts its process for any other code.
 * @param name  of the model's folder
 * @param metadata  of its encoder, or of its only file
 * @param fileNames  of the model's files, which may name a language too
 */
export function languagesOfModel(
  family: string,
  name: string,
  metadata: ReadonlyMap<string, string>,
  fileNames: readonly string[] = [],
): readonly string[] | null {
  switch (family) {
    case 'whisper':
      return whisperLanguages(name, metadata);
    case 'senseVoice':
      return ['zh', 'en', 'ja', 'ko', 'yue'];
    case 'canary':
      return /v2/i.test(name) ? EUROPEAN : ['en', 'de', 'es', 'fr'];
    case 'moonshine':
      // The authors' own models, tiny and base, are English; those of other languages have it in their names.
      return catalogued(name) ?? named(name, fileNames) ?? ['en'];
    default:
      return catalogued(name) ?? described(metadata) ?? named(name, fileNames);
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

/** What the metadata says of its languages, where these are codes. */
function described(metadata: ReadonlyMap<string, string>): readonly string[] | null {
  const codes = (metadata.get('languages') ?? metadata.get('language') ?? '').toLowerCase().split(/[\s,;]+/);
  return codes.every((code) => WHISPER_LANGUAGES.includes(code)) ? codes : null;
}

/** Parts of a name after the language. */
const AFTER_LANGUAGE = /^(int8|fp16|fp32|quantized|streaming|v?\d+|epoch|avg|onnx|ort)$/;
/** Short words that are codes as well, such as `it` and `no`, are taken for languages in the names of models only. */
const OF_MODEL = /sherpa|moonshine|zipformer|conformer|paraformer|parakeet|transducer|ctc|wenet/i;

/** The languages with which a folder's name ends, else those of a file's: sherpa-onnx-zipformer-zh-en-2023-11-22. */
function named(name: string, fileNames: readonly string[]): readonly string[] | null {
  for (const candidate of [name, ...fileNames]) {
    if (![name, candidate].some((one) => OF_MODEL.test(one))) continue;
    const parts = candidate.toLowerCase().split(/[-_.]/);
    while (AFTER_LANGUAGE.test(parts.at(-1) ?? '')) parts.pop();
    const last = parts.findLastIndex((part) => !WHISPER_LANGUAGES.includes(part));
    if (last >= 0 && last < parts.length - 1) return parts.slice(last + 1);
  }
  return null;
}
