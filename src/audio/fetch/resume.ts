import type { IncomingHttpHeaders } from 'node:http';
import { readFile } from './body.ts';
import type { HttpAnswer } from './exchange.ts';
import { FetchError } from './fetch-error.ts';

export type Resumption = {
  /** Opens the file again with these headers. The answer has the status 200 or 206. @throws FetchError */
  openAgain(headers: Record<string, string>): Promise<HttpAnswer>;
  /** Waits for the next try after a failed one. False when there is none: the failure ends the fetch. */
  nextTry(error: FetchError): Promise<boolean>;
  /** Ends a body that stalls for this time. */
  stallMs: number;
  signal: AbortSignal;
};

/**
 * The bytes of a file. When its body fails, the rest is asked for by Range, if the server names the version of the
 * file: bytes of different versions are never joined. A server that answers with the whole file is read from its start,
 * up to what is new.
 * @throws FetchError  when no try is left, or the server has another version by now
 * @throws unknown     the signal's reason, once it has aborted
 */
export async function* readResumed(first: HttpAnswer, resumption: Resumption): AsyncGenerator<Uint8Array> {
  const file = new FileInParts(first, resumption.stallMs);
  let answer: HttpAnswer | null = first;
  for (;;) {
    try {
      yield* file.unreadOf(answer ?? (await resumption.openAgain(file.rangeHeaders())));
      return;
    } catch (error) {
      resumption.signal.throwIfAborted();
      if (!(error instanceof FetchError) || !file.canResume() || !(await resumption.nextTry(error))) throw error;
      answer = null;
    }
  }
}

const PARTIAL_CONTENT = 206;

/** How much of a file was read, over the answers that bring it. */
class FileInParts {
  readonly #stallMs: number;
  readonly #sizeBytes: number | null;
  /** Null when the version is not known, or the server has another one by now. */
  #version: string | null;
  #receivedBytes = 0;

  constructor({ headers }: HttpAnswer, stallMs: number) {
    this.#stallMs = stallMs;
    this.#sizeBytes = headers['content-length'] === undefined ? null : Number(headers['content-length']);
    this.#version = versionOf(headers);
  }

  canResume(): boolean {
    return this.#version !== null;
  }

  rangeHeaders(): Record<string, string> {
    return { Range: `bytes=${this.#receivedBytes}-`, 'If-Range': this.#version! };
  }

  /** The bytes of an answer that were not read from an earlier one. */
  async *unreadOf(answer: HttpAnswer): AsyncGenerator<Uint8Array> {
    let readBytes = this.#receivedBytes - this.#startOf(answer);
    for await (const chunk of readFile(answer.body, this.#stallMs)) {
      const unread = chunk.subarray(readBytes);
      readBytes -= chunk.length - unread.length;
      this.#receivedBytes += unread.length;
      if (unread.length > 0) yield unread;
    }
    // A server may answer with less than was asked for.
    if (this.#receivedBytes < (this.#sizeBytes ?? 0)) {
      throw new FetchError('connect', 'The server sent a part of the file only.');
    }
  }

  /** The offset in the file of an answer's first byte. */
  #startOf({ status, headers, body }: HttpAnswer): number {
    const version = versionOf(headers);
    if (status !== PARTIAL_CONTENT && version === this.#version) return 0;
    const [, start, size] = /^bytes (\d{1,15})-\d{1,15}\/(\d{1,15}|\*)$/.exec(headers['content-range'] ?? '') ?? [];
    const isRest =
      (version === null || version === this.#version) &&
      Number(start) === this.#receivedBytes &&
      (size === '*' || this.#sizeBytes === null || Number(size) === this.#sizeBytes);
    if (status === PARTIAL_CONTENT && isRest) return this.#receivedBytes;
    body.destroy();
    this.#version = null;
    throw new FetchError('connect', 'The file changed while it was fetched.');
  }
}

/**
 * A strong validator for If-Range (RFC 9110, section 13.1.5):
 * a strong ETag, else a date that is not of the same second.
 */
function versionOf({ etag, 'last-modified': modified, date }: IncomingHttpHeaders): string | null {
  if (etag !== undefined) return /^"[^"]*"$/.test(etag) ? etag : null;
  if (modified === undefined || date === undefined) return null;
  return Date.parse(date) - Date.parse(modified) >= 1_000 ? modified : null;
}
