import { type Clock, systemClock } from './clock.ts';

/** Calls `read` at most once per `everyMs`; calls in between get the latest result. A failed read is not reused. */
export function readAtMostEvery<Value>(clock: Clock, everyMs: number, read: () => Promise<Value>) {
  let readAtMs = Number.NEGATIVE_INFINITY;
  let latest: Promise<Value>;
  return (): Promise<Value> => {
    if (clock.now() - readAtMs >= everyMs) {
      readAtMs = clock.now();
      latest = read();
      latest.catch(() => {
        readAtMs = Number.NEGATIVE_INFINITY;
      });
    }
    return latest;
  };
}

/** Calls `read` once: later calls get its result. A failed read is not reused: the next call reads again. */
export function readOnce<Value>(read: () => Promise<Value>): () => Promise<Value> {
  return readAtMostEvery(systemClock, Number.POSITIVE_INFINITY, read);
}
