import assert from 'node:assert/strict';
import { test } from 'node:test';
import { relativeTime } from './time.ts';

const NOW = new Date('2026-11-25T12:00:00Z');

test('a time of the API is shown by how long ago it was, or will be', () => {
  const shown = [
    '2026-11-25T12:00:00.000Z',
    '2026-11-25T11:59:59.000Z',
    '2026-11-25T11:52:10.123Z',
    '2026-11-24T13:00:00Z',
    '2026-11-24T12:00:00Z',
    '2024-11-25T12:00:00Z',
    '2026-11-28T12:00:00Z',
  ].map((time) => relativeTime(time, NOW));

  assert.deepEqual(shown, ['now', '1 s ago', '7 min ago', '23 h ago', '1 d ago', '2 y ago', 'in 3 d']);
});

test('another cell is shown as it is, in its style', () => {
  assert.equal(relativeTime('2026-11-25', NOW), '2026-11-25');
  assert.equal(relativeTime('call 2026-11-25T12:00:00Z.mp3', NOW), 'call 2026-11-25T12:00:00Z.mp3');
  assert.deepEqual(relativeTime({ text: '2026-11-25T11:00:00Z', style: 'dim' }, NOW), {
    text: '1 h ago',
    style: 'dim',
  });
});
