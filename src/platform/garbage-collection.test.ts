import assert from 'node:assert/strict';
import test from 'node:test';
import { noteSpent } from './garbage-collection.ts';

test('used buffers are collected once for every 8 MiB, young ones only', () => {
  const asked: unknown[] = [];
  const collect = (options: unknown) => void asked.push(options);

  for (let chunk = 0; chunk < 2 ** 8; chunk += 1) noteSpent(2 ** 16, collect);

  assert.deepEqual(asked, [{ type: 'minor' }, { type: 'minor' }]);
});
