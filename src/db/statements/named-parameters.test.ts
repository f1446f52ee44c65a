import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineStatement } from './named-parameters.ts';

const FIND = defineStatement({ name: 'find' }, 'select $id::text || $id, $accountId where $id2 is null');

test('each name becomes one number, in the order of first use', () => {
  assert.deepEqual(FIND({ accountId: 'a', id: 'i', id2: null, other: 1 }), {
    name: 'find',
    text: 'select $1::text || $1, $2 where $3 is null',
    values: ['i', 'a', null],
  });
});

test('a value that is missing is an error, null is a value', () => {
  assert.throws(() => FIND({ accountId: 'a', id: 'i' }), /\$id2/);
});
