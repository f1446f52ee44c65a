import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { unavailable } from '../../http/api-error.ts';
import type { Clock } from '../../platform/clock.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { entryPoint } from '../../platform/installation.ts';
import { LONG_BYTES } from '../store.ts';
import { TASKS, type TaskArguments, type TaskName, type TaskResult } from './transcript-tasks.ts';

/** Who waits for a task. */
export type TaskCaller = {
  clock: Clock;
  /** Aborts when nobody waits any more: a thread is ended, a task that waits for one does not begin. */
  signal: AbortSignal;
  /** Whether the caller has a link to a transcript, and no key of the account. */
  hasLink?: boolean;
};

// The tasks need 200 MB for a transcript of 26 MB, with 290,000 words.
const HEAP_LIMITS = { maxOldGenerationSizeMb: 1_024 };
// Loading their libraries alone would keep the process from answering.
const ALWAYS_IN_THREAD: ReadonlySet<TaskName> = new Set(['renderDocx', 'renderPdf']);
const ofKeys = openFairSemaphore({ permits: 2, perOwner: 1 });
// Strangers have links: they take no thread of an account that works with its keys.
const ofLinks = openFairSemaphore({ permits: 2, perOwner: 1 });
// A PDF takes up to 8 µs of processor time for each byte, all other tasks much less. A busy machine takes ten times as
// long. A proxy waits a minute, programs wait longer.
const DEADLINE = { leastMs: 20_000, perByteMs: 0.08, mostMs: 300_000 };
const RETRY_AFTER_SECONDS = 60;

type Task<Name extends TaskName> = (...values: TaskArguments<Name>) => TaskResult<Name> | Promise<TaskResult<Name>>;

/**
 * Runs a task on a whole transcript. For a long one a thread does it: with times of words, four hours of eight channels
 * take one to three seconds, in which the process would answer nobody. Tasks that load a library always have a thread.
 * An account has one such thread at a time, the process two, and as many for those who have links.
 * @throws ApiError  503 when the thread takes too long for the length of the transcript
 * @throws Error  when the thread fails, such as for want of memory
 * @throws unknown  the reason of the caller's signal
 */
export async function runTask<Name extends TaskName>(
  caller: TaskCaller,
  name: Name,
  ...values: TaskArguments<Name>
): Promise<TaskResult<Name>> {
  const [job] = values;
  const length = (job.segments?.length ?? 0) + (job.words?.length ?? 0);
  if (length <= LONG_BYTES && !ALWAYS_IN_THREAD.has(name))
    return await (TASKS[name] as unknown as Task<Name>)(...values);
  const threads = caller.hasLink ? ofLinks : ofKeys;
  const run = () => runInThread<TaskResult<Name>>(caller, { name, values }, deadlineMs(length));
  return await threads(job.accountId, run, caller.signal);
}

/** For how long a task may run on a transcript of this length. */
function deadlineMs(bytes: number): number {
  return Math.min(DEADLINE.mostMs, DEADLINE.leastMs + DEADLINE.perByteMs * bytes);
}

async function runInThread<Result>({ clock, signal }: TaskCaller, task: object, maxMs: number): Promise<Result> {
  signal.throwIfAborted();
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const thread = new Worker(entryPoint('transcript-thread'), {
    workerData: task,
    resourceLimits: HEAP_LIMITS,
    env: {},
  });
  void clock.sleep(maxMs, until).then(() => over.abort(tookTooLong()));
  // Of a thread that is ended.
  thread.on('error', () => undefined);
  try {
    // Rejects with an error of the thread.
    const [result] = (await once(thread, 'message', { signal: until })) as [Result];
    return result;
  } catch (cause) {
    if (until.aborted) throw until.reason;
    throw cause;
  } finally {
    over.abort(null);
    await thread.terminate();
  }
}

function tookTooLong() {
  const message = 'The transcript takes too long to write just now. Try again in a minute, or ask for format=text.';
  return unavailable(message, RETRY_AFTER_SECONDS);
}
