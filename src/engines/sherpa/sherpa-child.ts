import { isDeepStrictEqual } from 'node:util';
import sherpa from 'sherpa-onnx-node';
import { SAMPLE_RATE } from '../engine.ts';
import { endWithParent, serveParent } from '../process/child-serve.ts';
import { asFloats } from './samples.ts';
import { recognizerConfig, type SherpaSettings } from './sherpa-config.ts';
import { mayBeCut, readSherpaResult, type SherpaResult } from './sherpa-words.ts';
import { readPrintable, withPrintableTokens } from './whisper/printable-tokens.ts';
import { trimPauses } from './whisper/trim-pauses.ts';

// The process that sherpa.ts starts. A model that does not match its family aborts the process.
endWithParent();
await serveParent<SherpaSettings>(async (settings) => {
  const isWhisper = settings.family === 'whisper';
  let current = recognizerConfig(settings, { language: null });
  // The synchronous constructor aborts the process on a truncated file; this function rejects.
  const open = (tokens: string) =>
    sherpa.OfflineRecognizer.createAsync({ ...current, modelConfig: { ...current.modelConfig, tokens } });
  const { tokens } = settings.modelConfig as { tokens: string };
  const recognizer = await (isWhisper ? withPrintableTokens(tokens, open) : open(tokens));

  return async (piece, request) => {
    const wanted = recognizerConfig(settings, request);
    if (!isDeepStrictEqual(wanted, current)) recognizer.setConfig(wanted);
    current = wanted;
    const stream = recognizer.createStream();
    stream.acceptWaveform({ samples: asFloats(piece), sampleRate: SAMPLE_RATE });
    const result = (await recognizer.decodeAsync(stream)) as SherpaResult;
    const seconds = piece.length / SAMPLE_RATE;
    if (!isWhisper) return readSherpaResult(result, seconds);
    const transcript = readSherpaResult(trimPauses(readPrintable(result)), seconds);
    return mayBeCut(result, seconds) ? { ...transcript, isCut: true } : transcript;
  };
});
