import { type ApiError, unavailable } from '../../http/api-error.ts';

/** `freeBytes` of a storage. */
type FreeDisk = { freeBytes(): Promise<number> };

// A hundred uploads that write this much between two checks stay far below the reserve.
const CHECK_EVERY_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 60;

/**
 * @param wantedBytes  the size of the upload, as far as it is known
 * @throws ApiError  503 when the disk would have less than `minFreeBytes` left
 */
export async function requireFreeDisk(disk: FreeDisk, minFreeBytes: number, wantedBytes = 0): Promise<void> {
  if ((await disk.freeBytes()) - wantedBytes < minFreeBytes) throw diskFull();
}

/**
 * Yields the chunks while the disk has `minFreeBytes` left:
 * parallel uploads may fill a disk that was free at their start.
 */
export async function* whileDiskIsFree(
  chunks: AsyncIterable<Uint8Array>,
  disk: FreeDisk,
  minFreeBytes: number,
): AsyncIterable<Uint8Array> {
  let uncheckedBytes = 0;
  for await (const chunk of chunks) {
    uncheckedBytes += chunk.length;
    if (uncheckedBytes >= CHECK_EVERY_BYTES) {
      await requireFreeDisk(disk, minFreeBytes);
      uncheckedBytes = 0;
    }
    yield chunk;
  }
}

/** The error while the disk is full: 503 with Retry-After. */
export function diskFull(cause?: unknown): ApiError {
  const more = { extra: { retry_after: RETRY_AFTER_SECONDS }, cause };
  return unavailable('The server has no disk space for the upload now. Try again later.', RETRY_AFTER_SECONDS, more);
}

/** Whether the operating system refused a write or a new file because the disk or a table of the system is full. */
export function isDiskFull(cause: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE'].includes(String((cause as { code?: unknown } | null)?.code));
}
