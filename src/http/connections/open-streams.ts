import type { Readable } from 'node:stream';
import type { Runtime } from '../../db/runtime.ts';
import { BOUNDS } from '../../rules/bounds.ts';

/** The API key of a stream's request. `sessionId`: null for a request that sent the key itself. */
export type StreamKey = { shard: number; id: string; accountId: string; sessionId: string | null };
/** An answer that is being streamed; aborting `over` ends it after its current message. */
type OpenStream = { key: StreamKey; over: AbortController; stream: Readable };

/**
 * Those keys that are neither revoked nor expired, of accounts that are not suspended, by sessions that have not ended.
 */
type FindValidKeys = (keys: StreamKey[]) => Promise<StreamKey[]>;

/** Ends every stream whose key or session is no longer valid: one query for all streams, twice a second. */
export class OpenStreams {
  readonly #runtime: Runtime;
  readonly #findValidKeys: FindValidKeys;
  readonly #open = new Set<OpenStream>();
  readonly #closing = new AbortController();
  readonly #polling: Promise<void>;

  constructor(runtime: Runtime, findValidKeys: FindValidKeys) {
    this.#runtime = runtime;
    this.#findValidKeys = findValidKeys;
    this.#polling = this.#poll();
  }

  /** Returns the function to call when the stream has ended by itself. */
  add(stream: OpenStream): () => void {
    this.#open.add(stream);
    return () => void this.#open.delete(stream);
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#polling;
  }

  async #poll(): Promise<void> {
    const { clock, log } = this.#runtime;
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await clock.sleep(BOUNDS.streamKeysPollMs, signal);
      if (this.#open.size === 0 || signal.aborted) continue;
      await this.#endInvalid().catch((error) => log.warn({ err: error }, 'could not check the keys of open streams'));
    }
  }

  async #endInvalid(): Promise<void> {
    const checked = [...this.#open];
    const keys = new Map(checked.map(({ key }) => [nameOf(key), key]));
    const valid = new Set((await this.#findValidKeys([...keys.values()])).map(nameOf));
    for (const stream of checked) if (!valid.has(nameOf(stream.key))) this.#end(stream);
  }

  #end(ended: OpenStream): void {
    this.#open.delete(ended);
    ended.over.abort(new Error('the key of the stream is no longer valid'));
    void this.#runtime.clock.sleep(BOUNDS.streamEndMs, this.#closing.signal).then(() => ended.stream.destroy());
  }
}

function nameOf({ id, sessionId }: StreamKey): string {
  return sessionId ?? id;
}
