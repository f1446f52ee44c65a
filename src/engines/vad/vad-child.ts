import { readFile } from 'node:fs/promises';
import { endWithParent, serveParent } from '../process/child-serve.ts';
import { openFindSpeech } from './find-speech.ts';
import { readTensors } from './silero/tensors.ts';

export type VadSettings = { model: string };

// The process that vad.ts starts: a second of audio takes it some 3 ms.
endWithParent();
await serveParent<VadSettings>(async ({ model }) => {
  const findSpeech = openFindSpeech(readTensors(await readFile(model)));
  return async (piece) => {
    const segments = findSpeech(piece).map((interval) => ({ ...interval, text: '', confidence: null, words: [] }));
    return { segments, language: null };
  };
});
