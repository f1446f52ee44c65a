import type { MetricsSnapshot } from '../../platform/metrics.ts';
import { mergeMetrics } from '../../platform/metrics.ts';
import type { RoleContext } from './role.ts';

/** The metrics of every process of the node as one text: the parent gathers them. */
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
  // However many ask at once, the processes are asked once.
  return () => (asking ??= ask().finally(() => (asking = null)));
}
