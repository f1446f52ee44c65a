import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { nextJobs } from './next-jobs.ts';

const queueOf = (accountId: string, count: number) => ({
  accountId,
  jobs: Array.from({ length: count }, (_, i) => `${accountId}${i + 1}`),
});

test('accounts start one job each in turn, then the next of each', () => {
  const queues = [queueOf('a', 4), queueOf('b', 1), queueOf('c', 2)];

  assert.deepEqual(nextJobs({ returned: [], queues }, 2), ['a1', 'b1']);
  assert.deepEqual(nextJobs({ returned: [], queues }, 6), ['a1', 'b1', 'c1', 'a2', 'c2', 'a3']);
});

test('one account alone gets all places, as far as its jobs go', () => {
  assert.deepEqual(nextJobs({ returned: [], queues: [queueOf('a', 3)] }, 2), ['a1', 'a2']);
  assert.deepEqual(nextJobs({ returned: [], queues: [queueOf('a', 3)] }, 9), ['a1', 'a2', 'a3']);
  assert.deepEqual(nextJobs({ returned: [], queues: [] }, 9), []);
});

test('returned jobs start first, and their accounts are the last in turn', () => {
  const returned = [
    { accountId: 'a', jobs: ['old'] },
    { accountId: 'd', jobs: ['older'] },
  ];

  assert.deepEqual(nextJobs({ returned, queues: [queueOf('a', 2), queueOf('b', 1)] }, 1), ['old']);
  assert.deepEqual(nextJobs({ returned, queues: [queueOf('a', 2), queueOf('b', 1)] }, 4), ['old', 'older', 'b1', 'a1']);
});

test('the jobs are those that would start one after the other', () => {
  const random = randomFrom(7);
  for (let run = 0; run < 200; run++) {
    const queues = Array.from({ length: 1 + random.integer(5) }, (_, i) => queueOf('abcde'[i]!, 1 + random.integer(4)));
    const places = random.integer(12);

    const left = queues.map(({ jobs }) => [...jobs]);
    const single: string[] = [];
    while (single.length < places && left.length > 0) {
      const jobs = left.shift()!;
      single.push(jobs.shift()!);
      if (jobs.length > 0) left.push(jobs);
    }

    assert.deepEqual(nextJobs({ returned: [], queues }, places), single);
  }
});
