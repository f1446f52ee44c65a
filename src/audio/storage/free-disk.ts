import { ApiError } from '../../http/api-error.ts';
import type { AudioStorage } from './storage.ts';

type FreeDisk = Pick<AudioStorage, 'freeBytes'>;

// Far less than the reserve even when a hundred uploads write so much between two checks.
const CHECK_EVERY_BYTES = 8 * 1024 * 1024;
const RETRY_AFTER_SECONDS = 60;

/**
 * @param wantedBytes  what the upload is about to write, as far as it is known
 * @throws ApiError  503 when the disk would have less than `minFreeBytes` left
 */
export async function requireFreeDisk(disk: FreeDisk, minFreeBytes: number, wantedBytes = 0): Promise<void> {
  if ((await disk.freeBytes()) - wantedBytes < minFreeBytes) throw diskFull();
}

/** Passes the chunks on for as long as the disk has `minFreeBytes` left: uploads that began together fill it together. */
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

/** The answer while no upload can be stored. */
export function diskFull(cause?: unknown): ApiError {
  return new ApiError('unavailable', 'The server has no disk space for the upload now. Try again later.', {
    extra: { retry_after: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
    cause,
  });
}
