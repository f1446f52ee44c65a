import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../platform/clock.ts';
import { entryPoint } from '../../platform/installation.ts';
import type { Log } from '../../platform/log.ts';
import { FIRST_MODELS, VOICE_DETECTOR } from '../catalogue.ts';
import { isMissing } from '../first-models.ts';
import { isPulled } from '../folder.ts';
import type { FirstModelMessage, FirstModelWork } from './first-model-thread.ts';

export type FirstModelFetch = {
  log: Log;
  clock: Clock;
  /** Called with why there is no model that transcribes yet, in a sentence; not called while nothing is missing. */
  onReason(reason: string): void;
  /** Called when models were added. */
  onAdded(): void;
};

const FIRST_PAUSE_MS = 30_000;
const LONGEST_PAUSE_MS = 600_000;
const NOT_TRIED: Ended = { kind: 'failed', message: 'MODEL_DOWNLOAD is off.' };

/**
 * Gets the first models in a thread, where any is missing; after a failure again and again, until they are there. A
 * download that the end of the process interrupts is resumed by the next one.
 */
export async function fetchFirstModels(
  work: FirstModelWork,
  hooks: FirstModelFetch,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock, onReason, onAdded } = hooks;
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    const missing = await isMissing(work);
    if (!missing.speech && !missing.detector) return;
    const ended = (await isOutOfReach(work, missing)) ? NOT_TRIED : await follow(work, missing, hooks, signal);
    if (ended === null) return;
    if (ended.kind === 'added') {
      log.info({ models: ended.names }, 'models were added');
      onAdded();
      return;
    }
    if (missing.speech) onReason(`No model yet. ${ended.message} To choose one: verbatim models list`);
    const reason = { reason: ended.message };
    if (missing.speech) log.warn(reason, 'no model yet; jobs wait');
    else if (work.mayDownload) log.warn(reason, 'no voice detector yet');
    else log.info(reason, 'no voice detector');
    if (!work.mayDownload) return;
    await clock.sleep(pauseMs, signal);
  }
}

type Missing = Awaited<ReturnType<typeof isMissing>>;

/** Whether it must be downloaded, and may not: a thread takes 80 ms of processor time to find that out. */
async function isOutOfReach({ mayDownload, local }: FirstModelWork, missing: Missing): Promise<boolean> {
  if (mayDownload) return false;
  const wanted = [...(missing.detector ? [VOICE_DETECTOR] : []), ...(missing.speech ? FIRST_MODELS : [])];
  const shipped = await Promise.all(wanted.map((name) => isPulled(local.shipped, name)));
  return !shipped.includes(true);
}

async function follow(
  work: FirstModelWork,
  missing: Missing,
  { log, onReason }: FirstModelFetch,
  signal: AbortSignal,
): Promise<Ended | null> {
  if (missing.speech && work.mayDownload) onReason('No model yet: looking where to fetch one.');
  let named = '';
  return await runThread(work, signal, ({ name, doneBytes, totalBytes }) => {
    const megabytes = Math.ceil(totalBytes / 1e6);
    if (name !== named) log.info({ model: name, megabytes }, 'fetching a model in the background; jobs wait for it');
    named = name;
    const percent = Math.floor((100 * doneBytes) / totalBytes);
    if (name !== VOICE_DETECTOR) onReason(`No model yet: fetching ${name}, ${percent} % of ${megabytes} MB.`);
  });
}

type Progress = Extract<FirstModelMessage, { kind: 'progress' }>;
type Ended = Exclude<FirstModelMessage, Progress>;

/** Null when the signal ended it. */
async function runThread(
  work: FirstModelWork,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Ended | null> {
  const thread = new Worker(entryPoint('first-model-thread'), { workerData: work });
  thread.unref();
  const end = () => void thread.terminate();
  signal.addEventListener('abort', end, { once: true });
  let ended: Ended = { kind: 'failed', message: 'The download ended without a result.' };
  thread.on('message', (message: FirstModelMessage) => {
    if (message.kind === 'progress') onProgress(message);
    else ended = message;
  });
  thread.on('error', ({ message }) => {
    ended = { kind: 'failed', message };
  });
  await once(thread, 'exit');
  signal.removeEventListener('abort', end);
  return signal.aborted ? null : ended;
}
