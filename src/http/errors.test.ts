import assert from 'node:assert/strict';
import test from 'node:test';
import { problemOf } from './errors.ts';

test('a request that lost a deadlock is answered 503 with Retry-After: it can be sent again', () => {
  const { status, type, headers } = problemOf(Object.assign(new Error('deadlock detected'), { code: '40P01' }));

  assert.deepEqual([status, type, headers['retry-after']], [503, 'unavailable', '2']);
});

test('what nobody foresaw is a 500 whose message says nothing of its cause', () => {
  const { status, type, message } = problemOf(new Error('select secret from table'));

  assert.deepEqual([status, type], [500, 'internal']);
  assert.doesNotMatch(message, /secret|select/);
});
