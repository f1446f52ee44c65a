import type { Registry } from 'prom-client';
import Counter from 'prom-client/lib/counter.js';
import eventLoopLag from 'prom-client/lib/metrics/eventLoopLag.js';
import gc from 'prom-client/lib/metrics/gc.js';
import heapSizeAndUsed from 'prom-client/lib/metrics/heapSizeAndUsed.js';
import heapSpacesSizeAndUsed from 'prom-client/lib/metrics/heapSpacesSizeAndUsed.js';
import osMemoryHeap from 'prom-client/lib/metrics/osMemoryHeap.js';
import processHandles from 'prom-client/lib/metrics/processHandles.js';
import processMaxFileDescriptors from 'prom-client/lib/metrics/processMaxFileDescriptors.js';
import processOpenFileDescriptors from 'prom-client/lib/metrics/processOpenFileDescriptors.js';
import processRequests from 'prom-client/lib/metrics/processRequests.js';
import processResources from 'prom-client/lib/metrics/processResources.js';
import processStartTime from 'prom-client/lib/metrics/processStartTime.js';
import version from 'prom-client/lib/metrics/version.js';

const EVENT_LOOP_PRECISION_MS = 10;
const METRICS = [
  ...[processStartTime, osMemoryHeap, processOpenFileDescriptors, processMaxFileDescriptors, eventLoopLag],
  ...[processResources, processHandles, processRequests, heapSizeAndUsed, heapSpacesSizeAndUsed, version, gc],
];
// Gauges with the suffix of a counter, which Prometheus' checks refuse; the same figures are there by type.
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];

/**
 * Adds the default metrics of prom-client, except for three with wrong names: memory, processor time, event loop and garbage collection of this process.
 * prom-client's own `collectDefaultMetrics` loads OpenTelemetry for the processor time: 54 ms and 5 MB in each process.
 */
export function collectProcessMetrics(registry: Registry): void {
  for (const collect of METRICS) collect(registry, { eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  collectProcessorTime([registry]);
}

function collectProcessorTime(registers: Registry[]): void {
  let last = process.cpuUsage();
  const user = new Counter({
    name: 'process_cpu_user_seconds_total',
    help: 'Total user CPU time spent in seconds.',
    registers,
    // Called first, because the registry collects in the order of creation.
    collect() {
      const now = process.cpuUsage();
      const [userSeconds, systemSeconds] = [(now.user - last.user) / 1e6, (now.system - last.system) / 1e6];
      last = now;
      user.inc(userSeconds);
      system.inc(systemSeconds);
      both.inc(userSeconds + systemSeconds);
    },
  });
  const system = new Counter({
    name: 'process_cpu_system_seconds_total',
    help: 'Total system CPU time spent in seconds.',
    registers,
  });
  const both = new Counter({
    name: 'process_cpu_seconds_total',
    help: 'Total user and system CPU time spent in seconds.',
    registers,
  });
}
