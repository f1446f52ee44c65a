import type { CDPSession } from 'playwright-core';

/** The page's debugger, for what Playwright has no function for. */
export type Devtools = CDPSession;

/**
 * CPU time of the page's main thread so far, in ms:
 * unlike the lengths of tasks it does not grow with the load of the machine.
 */
export async function cpuMs(devtools: Devtools): Promise<number> {
  return (await metricOf(devtools, 'TaskDuration')) * 1_000;
}

/** Bytes of the page's JavaScript objects, after a collection of garbage. */
export async function heapBytes(devtools: Devtools): Promise<number> {
  await collectGarbage(devtools);
  return await metricOf(devtools, 'JSHeapUsedSize');
}

/** Before a measurement: a collection of the garbage of earlier work would count in it. */
export async function collectGarbage(devtools: Devtools): Promise<void> {
  await devtools.send('HeapProfiler.collectGarbage');
}

async function metricOf(devtools: Devtools, wanted: string): Promise<number> {
  const { metrics } = await devtools.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === wanted)!.value;
}
