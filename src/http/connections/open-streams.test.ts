import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import { OpenStreams, type StreamKey } from './open-streams.ts';

// Every sleep ends immediately.
const clock = { now: () => 0, sleep: () => new Promise<void>((resolve) => setImmediate(resolve)) };

function openEnvironment() {
  const fixture = { valid: new Set(['key_a', 'key_b']), queried: [] as string[][], isUnreachable: false };
  const findValidKeys = async (keys: StreamKey[]) => {
    fixture.queried.push(keys.map(({ id }) => id));
    if (fixture.isUnreachable) throw new Error('unreachable');
    return keys.filter(({ id }) => fixture.valid.has(id));
  };
  const streams = new OpenStreams(runtimeOn({} as Database, { clock }), findValidKeys);
  const add = (id: string) => {
    const open = {
      key: { shard: 1, id, accountId: 'acct_1', sessionId: null },
      over: new AbortController(),
      stream: new Readable({ read: () => undefined }),
    };
    return { ...open, remove: streams.add(open) };
  };
  return { fixture, add, [Symbol.asyncDispose]: () => streams.close() };
}

test('one query checks the keys of all streams, each key once; a stream that does not end is destroyed', async () => {
  await using given = openEnvironment();
  const [first, second, other] = [given.add('key_a'), given.add('key_a'), given.add('key_b')];

  given.fixture.valid.delete('key_a');
  await Promise.all([once(first.stream, 'close'), once(second.stream, 'close')]);

  assert.deepEqual(given.fixture.queried[0], ['key_a', 'key_b']);
  assert.ok(first.over.signal.aborted && second.over.signal.aborted);
  assert.deepEqual([other.over.signal.aborted, other.stream.destroyed], [false, false]);
});

test('an unreachable database ends no stream; the key of an ended stream is not checked', async () => {
  await using given = openEnvironment();
  given.fixture.isUnreachable = true;
  const stream = given.add('key_a');
  await until('two queries', () => given.fixture.queried.length >= 2);
  stream.remove();
  const queried = given.fixture.queried.length;
  given.fixture.isUnreachable = false;

  const last = given.add('key_b');
  await until('another query', () => given.fixture.queried.length > queried);

  assert.equal(stream.over.signal.aborted, false);
  assert.deepEqual(given.fixture.queried.at(-1), ['key_b']);
  last.remove();
});
