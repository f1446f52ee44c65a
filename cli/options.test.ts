import assert from 'node:assert/strict';
import test from 'node:test';
import { seconds } from './options.ts';

test('a length of time has a unit, or is in seconds', () => {
  const given = ['2', '0.2', '90s', '1.5m', '24h', '30d'];

  assert.deepEqual(given.map(seconds), [2, 0.2, 90, 90, 86_400, 2_592_000]);
  for (const wrong of ['', 's', '-1s', '1w', '1 h', '1e3', 'soon']) assert.throws(() => seconds(wrong), /such as 90s/);
});
