import type { Readable } from 'node:stream';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';

/** A key, as an account's requests carry it. */
export type StreamKey = { shard: number; id: string };
/** An answer under way; aborting `over` lets it end in order. */
export type OpenStream = { key: StreamKey; over: AbortController; stream: Readable };

export type OpenStreams = {
  /** Returns what to call once the stream has ended by itself. */
  add(stream: OpenStream): () => void;
  close(): Promise<void>;
};

// With the delay below, a stream ends within 2 s of its key.
const POLL_MS = 500;
// A stream whose reader does not read cannot end in order, and is cut off.
const END_MS = 500;

/** Ends every stream whose key was revoked or has expired: one query for all of them, twice a second. */
export function watchStreamKeys(deps: {
  /** The ids of those keys that still open their account. */
  findValidKeys(keys: StreamKey[]): Promise<Set<string>>;
  clock: Clock;
  log: Log;
}): OpenStreams {
  const { clock, log } = deps;
  const open = new Set<OpenStream>();
  const closing = new AbortController();
  const polling = poll();

  async function poll(): Promise<void> {
    while (!closing.signal.aborted) {
      await clock.sleep(POLL_MS, closing.signal);
      if (open.size === 0 || closing.signal.aborted) continue;
      await endInvalid().catch((error) => log.warn({ err: error }, 'could not look at the keys of open streams'));
    }
  }

  async function endInvalid(): Promise<void> {
    const asked = [...open];
    const keys = new Map(asked.map(({ key }) => [key.id, key]));
    const valid = await deps.findValidKeys([...keys.values()]);
    for (const stream of asked) if (!valid.has(stream.key.id)) end(stream);
  }

  function end(ended: OpenStream): void {
    open.delete(ended);
    ended.over.abort(new Error('the key of the stream was revoked or has expired'));
    void clock.sleep(END_MS, closing.signal).then(() => ended.stream.destroy());
  }

  return {
    add(stream) {
      open.add(stream);
      return () => void open.delete(stream);
    },
    async close() {
      closing.abort();
      await polling;
    },
  };
}
