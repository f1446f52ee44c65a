import type { Clock } from '../../platform/clock.ts';

const MIN_BYTES_PER_SECOND = 8 * 1024;
// The first minute is free: connections start slowly, and a short upload is over before.
const FREE_MS = 60_000;
const CHECK_EVERY_MS = 5_000;

export type UploadProgress = {
  receivedBytes(): number;
  /** Whether the sender waits for us now, such as for a slow disk. */
  isHeldBack(): boolean;
};

/**
 * Whether a sender proves too slow: true as soon as its upload, past its first minute, averages less than 8 KiB/s; false
 * when the signal aborts before. Time in which the sender waits for us does not count.
 */
export async function provesTooSlow(
  { receivedBytes, isHeldBack }: UploadProgress,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  // A sum of waits: a clock that is set must not end uploads.
  let countedMs = 0;
  for (;;) {
    await clock.sleep(CHECK_EVERY_MS, signal);
    if (signal.aborted) return false;
    if (!isHeldBack()) countedMs += CHECK_EVERY_MS;
    if (countedMs >= FREE_MS && receivedBytes() < (MIN_BYTES_PER_SECOND * countedMs) / 1000) return true;
  }
}
