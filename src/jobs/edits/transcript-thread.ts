import { parentPort, workerData } from 'node:worker_threads';
import { TASKS } from './transcript-tasks.ts';

// A thread for one task of run-task.ts.
const { name, values } = workerData as { name: keyof typeof TASKS; values: never };
parentPort!.postMessage(await (TASKS[name] as (...values: never[]) => unknown)(...(values as never[])));
