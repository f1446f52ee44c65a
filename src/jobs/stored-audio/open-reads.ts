import type { Readable } from 'node:stream';
import { type ApiError, rateLimited } from '../../http/api-error.ts';

const MAX_READS_PER_ACCOUNT = 8;
const RETRY_AFTER_SECONDS = 5;

/**
 * Limits the audio that is read at once from each account, with its keys and its links: each read holds an open file.
 */
export class OpenReads {
  readonly #counts = new Map<string, number>();

  /** Opens a stream, which counts until it is closed. @throws ApiError  429 */
  async open(accountId: string, openStream: () => Promise<Readable | null>): Promise<Readable | null> {
    if (this.#countOf(accountId) >= MAX_READS_PER_ACCOUNT) throw tooManyReads();
    this.#add(accountId, 1);
    const end = () => this.#add(accountId, -1);
    try {
      const stream = await openStream();
      if (stream === null || stream.closed) end();
      else stream.once('close', end);
      return stream;
    } catch (cause) {
      end();
      throw cause;
    }
  }

  #countOf(accountId: string): number {
    return this.#counts.get(accountId) ?? 0;
  }

  #add(accountId: string, change: 1 | -1): void {
    const count = this.#countOf(accountId) + change;
    if (count > 0) this.#counts.set(accountId, count);
    else this.#counts.delete(accountId);
  }
}

function tooManyReads(): ApiError {
  const message = `At most ${MAX_READS_PER_ACCOUNT} reads of stored audio of an account may be open at once. End one, or try again.`;
  return rateLimited(message, RETRY_AFTER_SECONDS);
}
