import { parentPort, workerData } from 'node:worker_threads';
import { type Model, ModelError } from '../model.ts';
import type { ModelOrigins } from '../sources/origins.ts';
import { pullModel } from './pull.ts';

// A thread that pulls one model, for background-pull.ts. The message `cancel` ends it.

export type ThreadWork = {
  name: string;
  modelsDir: string;
  origins: ModelOrigins;
  catalogue: readonly Model[] | undefined;
};

/** Progress, or how the pull ended. */
export type ThreadMessage =
  | { doneBytes: number }
  | { status: 'completed' | 'canceled' }
  | { status: 'failed'; message: string };

const REPORT_EVERY_MS = 200;

const { name, modelsDir, origins, catalogue } = workerData as ThreadWork;
const canceled = new AbortController();
let [doneBytes, reportedBytes] = [0, 0];
const reports = setInterval(reportBytes, REPORT_EVERY_MS);
parentPort!.once('message', () => canceled.abort());
try {
  await pullModel(name, {
    modelsDir,
    origins,
    signal: canceled.signal,
    discardsAborted: true,
    ...(catalogue && { catalogue }),
    onProgress: (progress) => {
      doneBytes = progress.doneBytes;
    },
  });
  reportBytes();
  report({ status: 'completed' });
} catch (error) {
  if (canceled.signal.aborted) report({ status: 'canceled' });
  else if (error instanceof ModelError) report({ status: 'failed', message: error.message });
  else throw error;
} finally {
  clearInterval(reports);
  parentPort!.close();
}

function reportBytes(): void {
  if (doneBytes !== reportedBytes) report({ doneBytes });
  reportedBytes = doneBytes;
}

function report(message: ThreadMessage): void {
  parentPort!.postMessage(message);
}
