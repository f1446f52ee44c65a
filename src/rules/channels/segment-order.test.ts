import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { SegmentOrder } from './segment-order.ts';

type Said = { channel: number; startSeconds: number };

const said = (channel: number, ...starts: number[]): Said[] =>
  starts.map((startSeconds) => ({ channel, startSeconds }));
const names = (segments: Said[]) => segments.map(({ channel, startSeconds }) => `${channel}@${startSeconds}`);

test('a segment is passed on once no later piece can contain an earlier one', () => {
  const order = new SegmentOrder<Said>(2);

  const steps = [
    order.add(said(0, 1, 12, 28), { position: 0, endSeconds: 30 }),
    order.add(said(1, 0.5, 12, 20), { position: 1, endSeconds: 25 }),
    order.add(said(1, 25, 29), { position: 1, endSeconds: 40 }),
    order.add([], { position: 0, endSeconds: 40 }),
    order.rest(),
  ];

  assert.deepEqual(steps.map(names), [[], ['1@0.5', '0@1', '0@12', '1@12', '1@20'], ['1@25', '0@28', '1@29'], [], []]);
});

test('the segments of one channel are passed on at once, in the order of the engine', () => {
  const order = new SegmentOrder<Said>(1);

  assert.deepEqual(names(order.add(said(3, 5, 2, 30), { position: 0, endSeconds: 30 })), ['3@5', '3@2', '3@30']);
  assert.deepEqual(order.rest(), []);
});

test('whatever the pieces, all segments come out once, sorted, and what came out is never preceded later', () => {
  const seed = 88;
  const random = randomFrom(seed);
  for (let round = 0; round < 300; round++) {
    const channels = 2 + random.integer(7);
    const lengthSeconds = 30 + random.integer(200);
    const order = new SegmentOrder<Said>(channels);
    const ends = new Array<number>(channels).fill(0);
    const given: Said[] = [];
    const shown: Said[] = [];

    while (Math.min(...ends) < lengthSeconds) {
      const position = ends.indexOf(Math.min(...ends));
      const start = ends[position]!;
      const end = Math.min(lengthSeconds, start + 20 + random.integer(10));
      const starts = Array.from({ length: random.integer(5) }, () => start + random.integer(end - start + 1));
      const segments = said(position, ...starts);
      given.push(...segments);
      ends[position] = end;
      shown.push(...order.add(segments, { position, endSeconds: end }));
    }
    shown.push(...order.rest());

    const sorted = given.toSorted((a, b) => a.startSeconds - b.startSeconds || a.channel - b.channel);
    assert.deepEqual(names(shown), names(sorted), `seed ${seed}, round ${round}`);
  }
});
