import v8 from 'node:v8';
import { runInNewContext } from 'node:vm';

type Options = { type: 'minor' } | { type: 'major'; flavor: 'last-resort' };
type Collect = (options: Options) => void;
/** Of this process: processor time since its start, and the size of its heap, unused parts included. */
type Usage = { cpuMs: number; heapBytes: number };

// A millisecond's work for each; V8 alone waits for eight times as much.
const COLLECT_EVERY_BYTES = 8 * 2 ** 20;
const IDLE_CHECK_EVERY_MS = 5_000;
// 2 % of a core.
const IDLE_MAX_CPU_MS = 100;
const GROWTH_MIN_BYTES = 3 * 2 ** 20;

let spentBytes = 0;
let collector: Collect | null = null;

/**
 * Counts bytes that stream through this process in buffers, and frees used buffers after every 8 MiB.
 * V8 decides by the small objects on its heap, and would keep 64 MiB of the buffers that they point at.
 */
export function noteSpent(bytes: number, collect: Collect = collectGarbage): void {
  spentBytes += bytes;
  if (spentBytes < COLLECT_EVERY_BYTES) return;
  spentBytes = 0;
  collect({ type: 'minor' });
}

/**
 * Returns the unused heap of this process to the system whenever the process has become idle; V8 keeps what the start or
 * a busy time has left. That is 4 to 20 MB per process after the start.
 */
export function collectWhenIdle(): void {
  setInterval(idleCheck(usage, collectGarbage), IDLE_CHECK_EVERY_MS).unref();
}

/**
 * A check to be called every 5 s. It collects when the process has used little processor time since the last check and
 * the heap is 3 MiB larger than after the last collection; and once more at the next check, as V8 keeps the bytecode of
 * the start until a later collection. So a process that stays idle collects twice.
 */
export function idleCheck(measure: () => Usage, collect: Collect): () => void {
  let last = measure();
  let keptBytes = 0;
  let isDueAgain = false;
  return () => {
    const now = measure();
    const isIdle = now.cpuMs - last.cpuMs <= IDLE_MAX_CPU_MS;
    const hasGrown = now.heapBytes >= keptBytes + GROWTH_MIN_BYTES;
    if (isIdle && (hasGrown || isDueAgain)) {
      collect({ type: 'major', flavor: 'last-resort' });
      keptBytes = measure().heapBytes;
      isDueAgain = hasGrown;
    }
    last = measure();
  };
}

function usage(): Usage {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000, heapBytes: v8.getHeapStatistics().total_heap_size };
}

/** V8's own function. Once a process runs, V8 shows it to new contexts only. */
function collectGarbage(options: Options): void {
  if (!collector) {
    v8.setFlagsFromString('--expose-gc');
    collector = runInNewContext('gc') as Collect;
  }
  collector(options);
}
