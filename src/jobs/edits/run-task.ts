import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { entryPoint } from '../../platform/installation.ts';
import { LONG_BYTES } from '../store.ts';
import { TASKS, type TaskArguments, type TaskName, type TaskResult } from './transcript-tasks.ts';

// The tasks need 200 MB for a transcript of 26 MB, with 290,000 words.
const HEAP_LIMITS = { maxOldGenerationSizeMb: 1_024 };
// Loading their libraries alone would keep the process from answering.
const ALWAYS_IN_THREAD: ReadonlySet<TaskName> = new Set(['renderDocx', 'renderPdf']);
const threads = openFairSemaphore({ permits: 2, perOwner: 1 });

type Task<Name extends TaskName> = (...values: TaskArguments<Name>) => TaskResult<Name> | Promise<TaskResult<Name>>;

/**
 * Runs a task on a whole transcript. For a long one a thread does it: with times of words, four hours of eight channels
 * take one to three seconds, in which the process would answer nobody. Tasks that load a library always have a thread.
 * An account has one such thread at a time, the process two.
 * @throws Error  when the thread fails, such as for want of memory
 */
export async function runTask<Name extends TaskName>(
  name: Name,
  ...values: TaskArguments<Name>
): Promise<TaskResult<Name>> {
  const [job] = values;
  const length = (job.segments?.length ?? 0) + (job.words?.length ?? 0);
  if (length <= LONG_BYTES && !ALWAYS_IN_THREAD.has(name))
    return await (TASKS[name] as unknown as Task<Name>)(...values);
  return await threads(job.accountId, async () => {
    const thread = new Worker(entryPoint('transcript-thread'), {
      workerData: { name, values },
      resourceLimits: HEAP_LIMITS,
      env: {},
    });
    // Rejects with an error of the thread.
    const [result] = (await once(thread, 'message')) as [TaskResult<Name>];
    return result;
  });
}
