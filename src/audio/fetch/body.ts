import type { IncomingMessage } from 'node:http';
import { FetchError } from './fetch-error.ts';

/** A server that sends less in the time for it has stalled: as for uploads. */
const STALL_BYTES = 16 * 1024;

/**
 * The bytes of an answer's body as they arrive. Time in which the reader is slow does not count towards a stall. Memory
 * does not grow with the body: nothing is read ahead of the reader. Destroys the body when the reader stops.
 * @param stallMs  ends the body when less than 16 KiB arrive in this time
 * @throws FetchError  timeout, or connect when the body ends before it is complete
 */
export async function* readFile(body: IncomingMessage, stallMs: number): AsyncGenerator<Uint8Array> {
  const chunks = body[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  let waitedMs = 0;
  let goalBytes = STALL_BYTES;
  let receivedBytes = 0;
  try {
    for (;;) {
      const startedAt = performance.now();
      const { done, value } = await nextWithin(chunks, body, stallMs - waitedMs);
      if (done) return;
      waitedMs += performance.now() - startedAt;
      receivedBytes += value.length;
      if (receivedBytes >= goalBytes) [goalBytes, waitedMs] = [receivedBytes + STALL_BYTES, 0];
      yield value;
    }
  } finally {
    body.destroy();
  }
}

async function nextWithin(
  chunks: AsyncIterator<Uint8Array>,
  body: IncomingMessage,
  maxMs: number,
): Promise<IteratorResult<Uint8Array>> {
  const timer = setTimeout(() => body.destroy(new FetchError('timeout', 'The server stopped sending.')), maxMs);
  try {
    return await chunks.next();
  } catch (cause) {
    if (cause instanceof FetchError) throw cause;
    throw new FetchError('connect', 'The connection broke before the whole file had arrived.', { cause });
  } finally {
    clearTimeout(timer);
  }
}
