import assert from 'node:assert/strict';
import test from 'node:test';
import { newId } from '../rules/ids.ts';
import { decodeCursor, decodeNumberCursor, pageOf } from './pagination.ts';

const JOB = newId('job', 1, new Uint8Array(10));
const EVENT = newId('evt', 1, new Uint8Array(10));
const REFUSED = { type: 'invalid_request', param: 'cursor' };

test('the cursor of a page continues its own list', () => {
  const { next_cursor } = pageOf([{ id: JOB }, { id: 'job_older' }], 1, ({ id }) => id);

  assert.equal(decodeCursor('job', next_cursor!), JOB);
  assert.equal(decodeNumberCursor('17'), 17);
  assert.deepEqual([decodeCursor('job', undefined), decodeNumberCursor(undefined)], [null, null]);
});

test('the cursor of another list is refused', () => {
  for (const cursor of [EVENT, '17', JOB.slice('job_'.length)])
    assert.throws(() => decodeCursor('job', cursor), REFUSED);
  for (const cursor of [JOB, '1'.repeat(16)]) assert.throws(() => decodeNumberCursor(cursor), REFUSED);
});
