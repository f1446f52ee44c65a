import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import test from 'node:test';
import { until } from '../../../test/fixtures/until.ts';
import { openLog } from '../../platform/log.ts';
import type { StreamKey } from './open-streams.ts';
import { watchStreamKeys } from './open-streams.ts';

// Time goes by at once.
const clock = { now: () => 0, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };

function openEnvironment() {
  const fixture = { valid: new Set(['key_a', 'key_b']), asked: [] as string[][], isAway: false };
  const findValidKeys = async (keys: StreamKey[]) => {
    fixture.asked.push(keys.map(({ id }) => id));
    if (fixture.isAway) throw new Error('away');
    return fixture.valid;
  };
  const streams = watchStreamKeys({ findValidKeys, clock, log: openLog('silent') });
  const add = (id: string) => {
    const open = {
      key: { shard: 1, id },
      over: new AbortController(),
      stream: new Readable({ read: () => undefined }),
    };
    return { ...open, remove: streams.add(open) };
  };
  return { ...{ fixture, add }, [Symbol.asyncDispose]: () => streams.close() };
}

test('one query asks for the keys of all streams, each key once; a stream that cannot end in order is cut off', async () => {
  await using given = openEnvironment();
  const [first, second, other] = [given.add('key_a'), given.add('key_a'), given.add('key_b')];

  given.fixture.valid.delete('key_a');
  await Promise.all([once(first.stream, 'close'), once(second.stream, 'close')]);

  assert.deepEqual(given.fixture.asked[0], ['key_a', 'key_b']);
  assert.ok(first.over.signal.aborted && second.over.signal.aborted);
  assert.deepEqual([other.over.signal.aborted, other.stream.destroyed], [false, false]);
});

test('a database that is away ends no stream; a stream that has ended is asked for no more', async () => {
  await using given = openEnvironment();
  given.fixture.isAway = true;
  const stream = given.add('key_a');
  await until('two questions', () => given.fixture.asked.length >= 2);
  stream.remove();
  const asked = given.fixture.asked.length;
  given.fixture.isAway = false;

  const last = given.add('key_b');
  await until('another question', () => given.fixture.asked.length > asked);

  assert.equal(stream.over.signal.aborted, false);
  assert.deepEqual(given.fixture.asked.at(-1), ['key_b']);
  last.remove();
});
