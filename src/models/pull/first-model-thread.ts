import { parentPort, workerData } from 'node:worker_threads';
import { ModelError } from '../model.ts';
import { type FirstModelOptions, getFirstModels } from './first-model.ts';

// A thread that gets the first models, for first-model-fetch.ts. It ends with the process.

export type FirstModelWork = Pick<
  FirstModelOptions,
  'modelsDir' | 'origins' | 'local' | 'wantsSpeech' | 'mayDownload' | 'catalogue'
>;

/** Progress, or how the work ended. */
export type FirstModelMessage =
  | { kind: 'progress'; name: string; doneBytes: number; totalBytes: number }
  | { kind: 'added'; names: string[] }
  | { kind: 'failed'; message: string };

const REPORT_EVERY_MS = 500;

const report = (message: FirstModelMessage) => parentPort!.postMessage(message);
let reportedAtMs = Number.NEGATIVE_INFINITY;

try {
  const names = await getFirstModels({
    ...(workerData as FirstModelWork),
    signal: new AbortController().signal,
    onProgress(name, { doneBytes, totalBytes }) {
      if (performance.now() - reportedAtMs < REPORT_EVERY_MS) return;
      reportedAtMs = performance.now();
      report({ kind: 'progress', name, doneBytes, totalBytes });
    },
  });
  report({ kind: 'added', names });
} catch (error) {
  if (!(error instanceof ModelError)) throw error;
  report({ kind: 'failed', message: error.message });
}
