type Collect = (options: { type: 'minor' }) => void;

// A millisecond's work for each; by itself V8 lets eight times as much lie.
const COLLECT_EVERY_BYTES = 8 * 2 ** 20;

let spentBytes = 0;

/**
 * Told of bytes that stream through this process in buffers of their own, has those that are used up freed every few MiB.
 * V8 collects by the small objects that it sees filling up, and leaves 64 MiB of what they point at waiting.
 * Without Node's --expose-gc it does nothing.
 */
export function noteSpent(bytes: number, collect: Collect | undefined = globalThis.gc): void {
  spentBytes += bytes;
  if (spentBytes < COLLECT_EVERY_BYTES) return;
  spentBytes = 0;
  collect?.({ type: 'minor' });
}
