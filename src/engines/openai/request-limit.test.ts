import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { RequestLimit } from './request-limit.ts';

/** A server with so many workers that take what comes first, and as many requests as the limit allows. */
function simulate(workers: number, { most = 16, pieces = 2_000, spread = 0, random = randomFrom(1) } = {}) {
  const limit = new RequestLimit(most);
  const limits: number[] = [];
  /** When each worker is free, and each request under way is answered. */
  const freeAtMs: number[] = Array(workers).fill(0);
  const answersAtMs: number[] = [];
  let nowMs = 0;
  for (let answered = 0; answered < pieces; answered += 1) {
    while (answersAtMs.length < limit.limit) {
      const worker = freeAtMs.indexOf(Math.min(...freeAtMs));
      freeAtMs[worker] = Math.max(nowMs, freeAtMs[worker]!) + 10_000 * (1 + spread * (2 * random.next() - 1));
      answersAtMs.push(freeAtMs[worker]);
    }
    nowMs = Math.min(...answersAtMs);
    limit.answered({ nowMs, underWay: answersAtMs.length, waiting: 99, work: 40 });
    answersAtMs.splice(answersAtMs.indexOf(nowMs), 1);
    limits.push(limit.limit);
  }
  const settled = limits.slice(pieces / 2);
  return { limits, mean: settled.reduce((sum, one) => sum + one, 0) / settled.length };
}

for (const workers of [1, 2, 3, 4, 6, 8, 12, 16, 64]) {
  for (const spread of [0.2, 0.6]) {
    test(`a server of ${workers} workers gets about as many requests at once, its times ± ${100 * spread} %`, () => {
      const useful = Math.min(workers, 16);
      for (const seed of [1, 2, 3, 4, 5]) {
        const { mean } = simulate(workers, { spread, random: randomFrom(seed) });

        assert.ok(mean >= 0.7 * useful && mean <= 1.7 * useful, `${mean} at once with the seed ${seed}`);
      }
    });
  }
}

test('a server that works on many at once has them after a hundred answers', () => {
  const { limits } = simulate(16);

  assert.equal(limits[0], 2);
  assert.ok(limits.indexOf(16) < 100);
});

test('a server that refuses requests gets fewer, once for all that were sent', () => {
  const limit = new RequestLimit(16);
  // As of a server whose throughput grows with the requests.
  for (let nowMs = 0; limit.limit < 16; nowMs += 1_000 / limit.limit) {
    limit.answered({ nowMs, underWay: limit.limit, waiting: 9, work: 1 });
  }

  for (let refusal = 0; refusal < 8; refusal += 1) limit.refused(16);
  const after = limit.limit;
  limit.refused(10);
  const again = limit.limit;
  for (let refusal = 0; refusal < 8; refusal += 1) limit.refused(limit.limit);

  assert.deepEqual([after, again, limit.limit], [10, 6, 1]);
});

test('nothing is learnt while there are fewer requests than the limit allows', () => {
  const limit = new RequestLimit(16);

  for (let answer = 0; answer < 1_000; answer += 1) {
    limit.answered({ nowMs: answer, underWay: 1, waiting: 0, work: 1 });
    limit.answered({ nowMs: answer, underWay: 2, waiting: 0, work: 1 });
  }

  assert.equal(limit.limit, 2);
});

test('the most that is allowed is never exceeded', () => {
  for (const most of [1, 2, 3]) assert.ok(simulate(64, { most }).limits.every((limit) => limit <= most));
});
