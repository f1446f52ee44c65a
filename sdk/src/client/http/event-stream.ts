import type { Clock } from './clock.ts';
import { ConnectionError } from './errors.ts';
import { watchIdle } from './idle.ts';

/** A server-sent event. `id` is the last one that the stream has named. */
export type ServerSentEvent = { event: string; id: string | null; data: string };

const MAX_FRAME_CHARS = 64 * 1024 * 1024;

/**
 * The events of a body until it ends.
 * @throws ConnectionError  when nothing has come for 38 s, the machine was asleep, or the connection was cut
 */
export async function* readEventStream(
  body: ReadableStream<Uint8Array>,
  clock: Clock,
  signal?: AbortSignal,
): AsyncGenerator<ServerSentEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const watch = watchIdle(clock, () => void reader.cancel().catch(() => undefined));
  const onAbort = () => void reader.cancel().catch(() => undefined);
  signal?.addEventListener('abort', onAbort);
  let [rest, id] = ['', null as string | null];
  try {
    while (true) {
      watch.begin();
      const { done, value } = await reader.read().catch((cause: unknown) => {
        throw new ConnectionError('The stream was cut.', { cause });
      });
      watch.pause();
      if (watch.isIdle()) throw new ConnectionError('Nothing came from the stream for too long.');
      if (done) return;
      // The empty line may be divided between chunks: up to two of its characters, such as "\n\r", came before.
      const searchFrom = Math.max(0, rest.length - 2);
      rest = (rest + decoder.decode(value, { stream: true })).replaceAll('\r\n', '\n');
      if (rest.length > MAX_FRAME_CHARS) throw new ConnectionError('An event of the stream is too long.');
      if (!rest.includes('\n\n', searchFrom)) continue;
      const blocks = rest.split('\n\n');
      rest = blocks.pop()!;
      for (const block of blocks) {
        const event = readBlock(block, id);
        id = event.id;
        if (event.data !== '') yield event;
      }
    }
  } finally {
    watch.stop();
    signal?.removeEventListener('abort', onAbort);
    await reader.cancel().catch(() => undefined);
  }
}

function readBlock(block: string, id: string | null): ServerSentEvent {
  const event: ServerSentEvent = { event: 'message', id, data: '' };
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':');
    if (colon < 1) continue;
    const value = line.slice(colon + (line[colon + 1] === ' ' ? 2 : 1));
    const name = line.slice(0, colon);
    if (name === 'data') data.push(value);
    else if (name === 'event' || name === 'id') event[name] = value;
  }
  event.data = data.join('\n');
  return event;
}
