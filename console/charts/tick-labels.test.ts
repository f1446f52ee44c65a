import assert from 'node:assert/strict';
import test from 'node:test';
import { tickLabels } from './tick-labels.ts';

const at = (time: string) => Date.parse(`2026-11-${time}:00Z`) / 1000;

test('hours have the date at the first tick and at midnight', () => {
  assert.deepEqual(tickLabels([at('21T16:00'), at('21T20:00'), at('22T00:00'), at('22T04:00')], true), [
    '16:00\n21 Nov',
    '20:00',
    '00:00\n22 Nov',
    '04:00',
  ]);
});

test('ticks a day apart are dates', () => {
  assert.deepEqual(tickLabels([at('20T00:00'), at('22T00:00')], true), ['20 Nov', '22 Nov']);
  assert.deepEqual(tickLabels([], true), []);
});
