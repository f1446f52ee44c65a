import assert from 'node:assert/strict';
import test from 'node:test';
import { linkSeconds, readSeconds } from './time-link.ts';

test('a time is read as seconds or as a clock, and nothing else is', () => {
  assert.deepEqual(['83.4', '1:23.4', '1:02:03', '0', ' 7 '].map(readSeconds), [83.4, 83.4, 3723, 0, 7]);
  assert.deepEqual(
    ['', '-1', '1e3', '1:60', '1:2:3:4', 'NaN', '99:00:00:00', '<b>', '61:00'].map(readSeconds),
    Array(9).fill(null),
  );
});

test('a link holds tenths and never a later time', () => {
  assert.deepEqual([83.4, 83.49, 8.2, 0.05, 3].map(linkSeconds), [83.4, 83.4, 8.2, 0, 3]);
});
