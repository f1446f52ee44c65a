import { SAMPLE_RATE } from '../engine.ts';
import type { PieceRequest } from '../process/child-serve.ts';

export type SherpaSettings = { family: string; modelConfig: Record<string, unknown> };

/** Families that take the language as a setting; the others know one language or detect it. */
const LANGUAGE_SETTING = new Set(['whisper', 'senseVoice', 'canary']);

/** Whether models of a family are told which language to transcribe. */
export function takesLanguage(family: string): boolean {
  return LANGUAGE_SETTING.has(family);
}

/** The configuration of a recogniser of sherpa-onnx for pieces of one language and task. */
export function recognizerConfig({ family, modelConfig }: SherpaSettings, request: PieceRequest) {
  const settings = { ...languageSetting(family, request.language), ...taskSetting(family, request) };
  return {
    featConfig: { sampleRate: SAMPLE_RATE, featureDim: 80 },
    modelConfig: { ...modelConfig, [family]: { ...(modelConfig[family] as object), ...settings } },
    decodingMethod: 'greedy_search',
  };
}

function languageSetting(family: string, language: string | null): object {
  if (language === null || !takesLanguage(family)) return {};
  return family === 'canary' ? { srcLang: language, tgtLang: language } : { language };
}

function taskSetting(family: string, { translateTo = null }: PieceRequest): object {
  return family === 'whisper' && translateTo !== null ? { task: 'translate' } : {};
}
