import type { Clock } from '../../platform/clock.ts';

const MIN_BYTES_PER_SECOND = 8 * 1024;
// The first minute does not count: connections start slowly, and short uploads end within it.
const FREE_MS = 60_000;
const CHECK_EVERY_MS = 5_000;

export type UploadProgress = {
  receivedBytes(): number;
  /** Whether the sender currently waits for this service, such as for a slow disk. */
  isHeldBack(): boolean;
};

/**
 * True as soon as an upload averages less than 8 KiB/s after its first minute; false when the signal aborts first. Time
 * in which the sender waits for this service does not count.
 */
export async function isTooSlow(
  { receivedBytes, isHeldBack }: UploadProgress,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  // A sum of waits, so that a change of the system time does not end uploads.
  let countedMs = 0;
  for (;;) {
    await clock.sleep(CHECK_EVERY_MS, signal);
    if (signal.aborted) return false;
    if (!isHeldBack()) countedMs += CHECK_EVERY_MS;
    if (countedMs >= FREE_MS && receivedBytes() < (MIN_BYTES_PER_SECOND * countedMs) / 1000) return true;
  }
}
