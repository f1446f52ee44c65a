import { type MetricsSnapshot, mergeMetrics } from '../../platform/metrics.ts';
import type { RoleContext } from './role.ts';

/** Returns the metrics of all processes of the node as one text, collected by the parent. */
export function askMetricsOfAll({ send, onMessage }: Pick<RoleContext, 'send' | 'onMessage'>) {
  const waiting = new Map<number, (snapshots: MetricsSnapshot[]) => void>();
  let nextRequestId = 1;
  onMessage((message) => {
    if (message.kind !== 'metrics-of-all') return;
    waiting.get(message.requestId)?.(message.snapshots as MetricsSnapshot[]);
    waiting.delete(message.requestId);
  });
  const ask = async (): Promise<{ contentType: string; text: string }> => {
    const requestId = nextRequestId++;
    const { promise, resolve } = Promise.withResolvers<MetricsSnapshot[]>();
    waiting.set(requestId, resolve);
    send({ kind: 'metrics-of-all-wanted', requestId });
    return await mergeMetrics(await promise);
  };
  let asking: ReturnType<typeof ask> | null = null;
  // Simultaneous calls share one request to the processes.
  return () => (asking ??= ask().finally(() => (asking = null)));
}
