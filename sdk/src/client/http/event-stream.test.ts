import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openManualClock } from '../../../../test/fixtures/manual-clock.ts';
import { readEventStream } from './event-stream.ts';

// Several times what it takes to read each byte.
const MOST_TURNS = 1_000;

/** Aborts after so many turns of the event loop. */
function afterTurns(count: number): AbortSignal {
  const controller = new AbortController();
  const turn = (left: number) => (left === 0 ? controller.abort() : setImmediate(turn, left - 1));
  turn(count);
  return controller.signal;
}

for (const [name, lineEnd] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
] as const) {
  test(`an event with lines that end with ${name} is read once its last byte is there, each byte in a chunk`, async () => {
    const lines = [': comment', '', 'event: status', 'id: 7', 'data: {"text":', 'data: "é"}', '', ''];
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of new TextEncoder().encode(lines.join(lineEnd))) controller.enqueue(Uint8Array.of(byte));
        // It stays open.
      },
    });
    const stop = afterTurns(MOST_TURNS);

    const events = readEventStream(body, openManualClock(), stop);
    const { value } = await events.next();
    await events.return(undefined);

    assert.deepEqual(value, { event: 'status', id: '7', data: '{"text":\n"é"}' });
  });
}
