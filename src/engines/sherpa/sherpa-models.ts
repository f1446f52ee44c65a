import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { EngineError, type EngineFeature } from '../engine.ts';
import { languagesOfModel } from '../model-languages.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import { featuresOfModel } from './sherpa-features.ts';

/** The `modelConfig` of sherpa-onnx: one key for the family with its files, and the tokens. */
export type SherpaModel = {
  family: string;
  modelConfig: Record<string, unknown>;
  /** The model's own codes; null when unknown. */
  languages: readonly string[] | null;
  features: readonly EngineFeature[];
  /**
   * Whether it decodes audio while it comes, for live sessions;
   * sherpa-onnx aborts its process when it is used otherwise.
   */
  isStreaming: boolean;
  /** The paths of all files, and their size together. */
  files: readonly string[];
  sizeBytes: number;
};

type Folder = { path: string; names: string[] };
/** A family's files, or null when the folder is not of that family. */
type Family = (folder: Folder) => Promise<Pick<SherpaModel, 'family' | 'modelConfig'> | null>;

/** Families that the file names identify come first, because file names are more reliable than metadata. */
const FAMILIES: Family[] = [moonshine, mergedMoonshine, transducer, encoderDecoder, singleModel];

/**
 * The family and the settings of a model folder; null without a known model in it.
 * @throws EngineError when it is unreadable
 */
export async function detectSherpaModel(folderPath: string): Promise<SherpaModel | null> {
  const names = await readdir(folderPath).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return [];
    const message = `The folder ${folderPath} cannot be read (${error.code}). Let the service's user read it.`;
    throw new EngineError('engine_error', message, { cause: error, failure: { kind: 'start' } });
  });
  const folder = { path: folderPath, names: names.sort() };
  for (const family of FAMILIES) {
    const found = await family(folder);
    if (found === null) continue;
    const parts = found.modelConfig[found.family] as Record<string, string>;
    const described = parts['encoder'] ?? parts['model'] ?? '';
    const metadata = described.endsWith('.onnx') ? await readOnnxMetadata(described) : new Map<string, string>();
    const name = path.basename(folderPath);
    const languages = languagesOfModel(found.family, name, metadata, modelFiles(folder));
    const hasAttention = found.family === 'whisper' && Number(metadata.get('n_alignment_heads') ?? 0) > 0;
    // sherpa-onnx writes an error where the decoder does not give its attention.
    if (hasAttention) Object.assign(parts, { enableTokenTimestamps: 1 });
    const names = [name, metadata.get('model_type') ?? ''];
    const features = featuresOfModel(found.family, names, languages, hasAttention);
    const isStreaming = isStreamingModel(metadata);
    const files = folder.names.map((name) => path.join(folderPath, name));
    return { ...found, languages, features, isStreaming, files, sizeBytes: await sizeOfModels(folder) };
  }
  return null;
}

/** Zipformers name the length of their chunks, models of NeMo the window and the step. */
function isStreamingModel(metadata: ReadonlyMap<string, string>): boolean {
  return metadata.has('decode_chunk_len') || (metadata.has('window_size') && metadata.has('chunk_shift'));
}

async function moonshine(folder: Folder) {
  const preprocessor = pick(folder, /^preprocess.*\.onnx$/);
  const encoder = pick(folder, /^encode.*\.onnx$/);
  const uncachedDecoder = pick(folder, /^uncached_decode.*\.onnx$/);
  const cachedDecoder = pick(folder, /^cached_decode.*\.onnx$/);
  if (!preprocessor || !encoder || !uncachedDecoder || !cachedDecoder) return null;
  return describe(folder, 'moonshine', { preprocessor, encoder, uncachedDecoder, cachedDecoder });
}

async function mergedMoonshine(folder: Folder) {
  const encoder = pick(folder, /^encoder_model\.(ort|onnx)$/);
  const mergedDecoder = pick(folder, /^decoder_model_merged\.(ort|onnx)$/);
  if (!encoder || !mergedDecoder) return null;
  return describe(folder, 'moonshine', { encoder, mergedDecoder });
}

async function transducer(folder: Folder) {
  const encoder = pick(folder, /encoder.*\.onnx$/);
  const decoder = pick(folder, /decoder.*\.onnx$/);
  const joiner = pick(folder, /joiner.*\.onnx$/);
  if (!encoder || !decoder || !joiner) return null;
  const isNemo = (await modelType(encoder)).startsWith('EncDec') || /nemo|parakeet/i.test(path.basename(folder.path));
  const found = describe(folder, 'transducer', { encoder, decoder, joiner });
  return isNemo ? { ...found, modelConfig: { ...found.modelConfig, modelType: 'nemo_transducer' } } : found;
}

async function encoderDecoder(folder: Folder) {
  const encoder = pick(folder, /encoder.*\.onnx$/);
  const decoder = pick(folder, /decoder.*\.onnx$/);
  if (!encoder || !decoder) return null;
  const name = `${path.basename(folder.path)} ${await modelType(encoder)}`;
  if (/canary|EncDecMultiTask/i.test(name)) {
    return describe(folder, 'canary', { encoder, decoder, srcLang: 'en', tgtLang: 'en', usePnc: 1 });
  }
  if (/fire-?red/i.test(name)) return describe(folder, 'fireRedAsr', { encoder, decoder });
  if (/cohere/i.test(name)) return describe(folder, 'cohereTranscribe', { encoder, decoder, usePunct: 1, useItn: 1 });
  return describe(folder, 'whisper', { encoder, decoder, language: '', task: 'transcribe', tailPaddings: -1 });
}

/**
 * Patterns for the metadata, the file name or the folder name of a single model file, with the family that they
 * identify.
 */
const SINGLE_MODELS: [RegExp, string][] = [
  [/EncDec(Hybrid|CTC)|nemo|parakeet/i, 'nemoCtc'],
  [/sense[_-]?voice/i, 'senseVoice'],
  [/paraformer/i, 'paraformer'],
  [/zipformer/i, 'zipformerCtc'],
  [/wenet/i, 'wenetCtc'],
  [/dolphin/i, 'dolphin'],
  [/omnilingual/i, 'omnilingual'],
  [/medasr/i, 'medasr'],
  [/tdnn/i, 'tdnn'],
];

async function singleModel(folder: Folder) {
  const model = pick(folder, /\.onnx$/);
  if (!model) return null;
  const names = [await modelType(model), path.basename(model), path.basename(folder.path)];
  const family = names.map(familyNamed).find((one) => one !== null) ?? null;
  if (family === null) return null;
  // Off by default; it writes numbers as digits, and punctuation.
  const extra = family === 'senseVoice' ? { language: 'auto', useInverseTextNormalization: 1 } : {};
  return describe(folder, family, { model, ...extra });
}

function familyNamed(name: string): string | null {
  return SINGLE_MODELS.find(([pattern]) => pattern.test(name))?.[1] ?? null;
}

function describe(folder: Folder, family: string, files: Record<string, unknown>) {
  const tokens = pick(folder, /tokens\.txt$/) ?? '';
  return { family, modelConfig: { [family]: files, tokens } };
}

/** The path of the first file that matches; an int8 file, which is smaller, comes first. */
function pick({ path: folder, names }: Folder, pattern: RegExp): string | null {
  const fitting = names.filter((name) => pattern.test(name));
  const name = fitting.find((one) => one.includes('int8')) ?? fitting[0];
  return name === undefined ? null : path.join(folder, name);
}

async function modelType(file: string): Promise<string> {
  if (!file.endsWith('.onnx')) return '';
  return (await readOnnxMetadata(file)).get('model_type') ?? '';
}

/** The names of the files with the weights. */
function modelFiles({ names }: Folder): string[] {
  return names.filter((name) => /\.(onnx|ort)$/.test(name));
}

async function sizeOfModels({ path: folder, names }: Folder): Promise<number> {
  const sizes = await Promise.all(names.map(async (name) => (await stat(path.join(folder, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
