import assert from 'node:assert/strict';
import test from 'node:test';
import { Untranscribed } from './untranscribed.ts';

const part = (startSeconds: number, endSeconds: number) => ({ startSeconds, endSeconds });

test('parts of consecutive pieces are one while no text stands between them', () => {
  const untranscribed = new Untranscribed(1);

  untranscribed.add(0, [part(0.5, 22.1)], []);
  untranscribed.add(0, [part(23, 44)], []);
  untranscribed.add(0, [part(50, 51)], [part(44.2, 45)]);
  untranscribed.add(0, [part(52.5, 60)], [part(51.2, 52)]);

  assert.deepEqual(untranscribed.parts(), [part(0.5, 44), part(50, 51), part(52.5, 60)]);
});

test('the length is that of all channels, to the millisecond of the shown times', () => {
  const untranscribed = new Untranscribed(2);

  untranscribed.add(1, [part(1.0004, 2.0006)], []);
  untranscribed.add(0, [part(0, 3)], []);

  assert.deepEqual([untranscribed.ms(), untranscribed.parts()[0]], [4001, part(0, 3)]);
  assert.equal(new Untranscribed(1).ms(), 0);
});
