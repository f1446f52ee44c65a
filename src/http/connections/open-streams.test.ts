import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import test from 'node:test';
import { until } from '../../../test/until.ts';
import { openLog } from '../../platform/log.ts';
import type { StreamKey } from './open-streams.ts';
import { watchStreamKeys } from './open-streams.ts';

// Time goes by at once.
const clock = { now: () => 0, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };

function openRoom() {
  const room = { valid: new Set(['key_a', 'key_b']), asked: [] as string[][], isAway: false };
  const findValidKeys = async (keys: StreamKey[]) => {
    room.asked.push(keys.map(({ id }) => id));
    if (room.isAway) throw new Error('away');
    return room.valid;
  };
  const streams = watchStreamKeys({ findValidKeys, clock, log: openLog('silent') });
  const add = (id: string) => {
    const open = { key: { lane: 1, id }, over: new AbortController(), stream: new Readable({ read: () => undefined }) };
    return { ...open, remove: streams.add(open) };
  };
  return { ...{ room, add }, [Symbol.asyncDispose]: () => streams.close() };
}

test('one query asks for the keys of all streams, each key once; a stream that cannot end in order is cut off', async () => {
  await using given = openRoom();
  const [first, second, other] = [given.add('key_a'), given.add('key_a'), given.add('key_b')];

  given.room.valid.delete('key_a');
  await Promise.all([once(first.stream, 'close'), once(second.stream, 'close')]);

  assert.deepEqual(given.room.asked[0], ['key_a', 'key_b']);
  assert.ok(first.over.signal.aborted && second.over.signal.aborted);
  assert.deepEqual([other.over.signal.aborted, other.stream.destroyed], [false, false]);
});

test('a database that is away ends no stream; a stream that has ended is asked for no more', async () => {
  await using given = openRoom();
  given.room.isAway = true;
  const stream = given.add('key_a');
  await until('two questions', () => given.room.asked.length >= 2);
  stream.remove();
  const asked = given.room.asked.length;
  given.room.isAway = false;

  const last = given.add('key_b');
  await until('another question', () => given.room.asked.length > asked);

  assert.equal(stream.over.signal.aborted, false);
  assert.deepEqual(given.room.asked.at(-1), ['key_b']);
  last.remove();
});
