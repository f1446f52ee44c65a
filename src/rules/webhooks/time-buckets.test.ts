import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { BUCKETS, divideTime } from './time-buckets.ts';

const NOW_MS = Date.parse('2026-11-21T09:30:10.500Z');
const at = (time: string) => Date.parse(`2026-11-${time}Z`);

const DIVIDED: [string, Parameters<typeof divideTime>[0], [string, number]][] = [
  ['the last hour', { fromMs: null, toMs: null, bucket: 'minute' }, ['21T08:31:00.000', 60]],
  ['the last day', { fromMs: null, toMs: null, bucket: 'hour' }, ['20T10:00:00.000', 24]],
  ['whole buckets', { fromMs: at('21T08:59:59'), toMs: at('21T09:00:01'), bucket: 'hour' }, ['21T08:00:00.000', 2]],
  [
    'a bucket that ends at to',
    { fromMs: at('21T08:00:00'), toMs: at('21T09:00:00'), bucket: 'hour' },
    ['21T08:00:00.000', 1],
  ],
  ['no future', { fromMs: at('21T00:00:00'), toMs: at('25T00:00:00'), bucket: 'day' }, ['21T00:00:00.000', 1]],
];
for (const [what, time, [start, count]] of DIVIDED) {
  test(`a time is divided: ${what}`, () => {
    const grid = divideTime(time, NOW_MS);

    assert.ok('count' in grid);
    assert.deepEqual([grid.fromMs, grid.count], [at(start), count]);
  });
}

const REFUSED: [string, Parameters<typeof divideTime>[0]][] = [
  ['to before from', { fromMs: at('21T09:00:00'), toMs: at('21T08:00:00'), bucket: 'hour' }],
  ['nothing', { fromMs: at('21T09:00:00'), toMs: at('21T09:00:00'), bucket: 'hour' }],
  ['the future', { fromMs: at('22T00:00:00'), toMs: null, bucket: 'minute' }],
  ['more than a day of minutes', { fromMs: at('20T09:30:00'), toMs: null, bucket: 'minute' }],
  ['all times', { fromMs: -8.64e15, toMs: 8.64e15, bucket: 'day' }],
];
for (const [what, time] of REFUSED) {
  test(`${what} is refused`, () => {
    const problem = divideTime(time, NOW_MS);

    assert.ok('param' in problem && problem.param === 'from');
  });
}

test('the buckets cover the time, and no answer has more than 1,440 of them', () => {
  const random = randomFrom(11);
  for (let i = 0; i < 5_000; i++) {
    const bucket = random.pick(BUCKETS);
    const toMs = NOW_MS - random.integer(1e9);
    const fromMs = toMs - 1 - random.integer(random.pick([1e5, 1e8, 1e11]));
    const grid = divideTime({ fromMs, toMs, bucket }, NOW_MS);
    if ('param' in grid) continue;
    const endMs = grid.fromMs + grid.count * grid.bucketMs;
    assert.ok(grid.fromMs <= fromMs && endMs >= toMs && grid.count <= 1_440);
    assert.ok(fromMs - grid.fromMs < grid.bucketMs && endMs - toMs < grid.bucketMs);
  }
});
