import sherpa from 'sherpa-onnx-node';
import type { Pcm } from '../engine.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { endWithParent, serveParent } from '../process/child-serve.ts';
import type { SherpaResult } from './sherpa-words.ts';
import { mayBeCut, readSherpaResult } from './sherpa-words.ts';

export type SherpaSettings = { family: string; modelConfig: Record<string, unknown> };

/** Families that take the language as a setting; the others know one language or detect it. */
const LANGUAGE_SETTING = new Set(['whisper', 'senseVoice', 'canary']);

// The process that sherpa.ts starts. A model that does not match its family aborts the process.
endWithParent();
await serveParent<SherpaSettings>(async ({ family, modelConfig }) => {
  const config = (language: string | null) => ({
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: 80 },
    modelConfig: withLanguage(family, modelConfig, language),
    decodingMethod: 'greedy_search',
  });
  // The synchronous constructor aborts the process on a truncated file; this function rejects.
  const recognizer = await sherpa.OfflineRecognizer.createAsync(config(null));
  let current: string | null = null;

  return async (piece, { language }) => {
    if (language !== current && LANGUAGE_SETTING.has(family)) {
      recognizer.setConfig(config(language));
      current = language;
    }
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: asFloats(piece), sampleRate: SAMPLE_RATE });
    const result = (await recognizer.decodeAsync(stream)) as SherpaResult;
    const seconds = piece.length / SAMPLE_RATE;
    const transcript = readSherpaResult(result, seconds);
    return family === 'whisper' && mayBeCut(result, seconds) ? { ...transcript, isCut: true } : transcript;
  };
});

function withLanguage(family: string, modelConfig: Record<string, unknown>, language: string | null) {
  if (language === null || !LANGUAGE_SETTING.has(family)) return modelConfig;
  const setting = family === 'canary' ? { srcLang: language, tgtLang: language } : { language };
  return { ...modelConfig, [family]: { ...(modelConfig[family] as object), ...setting } };
}

/** sherpa-onnx reads any typed array as floats: 16-bit samples would give wrong text without an error. */
function asFloats(piece: Pcm): Float32Array {
  return Float32Array.from(piece, (sample) => sample / 32_768);
}
