import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { queuePosition } from './queue-position.ts';

const cases = [
  { title: 'the first of the only account is next', rank: 1, queues: [['a', 3, null]], position: 1 },
  { title: 'the third of the only account is third', rank: 3, queues: [['a', 3, 5]], position: 3 },
  {
    title: 'a new account goes before one that had a turn',
    rank: 1,
    queues: [
      ['a', 1, null],
      ['b', 500, 9],
    ],
    position: 1,
  },
  {
    title: 'one that waits longer goes before',
    rank: 1,
    queues: [
      ['a', 1, 7],
      ['b', 500, 6],
    ],
    position: 2,
  },
  {
    title: 'others are ahead by as many as they have',
    rank: 4,
    queues: [
      ['a', 4, 7],
      ['b', 2, 9],
      ['c', 9, 8],
    ],
    position: 9,
  },
] as const;

for (const { title, rank, queues, position } of cases) {
  test(title, () => {
    const given = queues.map(([accountId, waiting, lastTurnMs]) => ({ accountId, waiting, lastTurnMs }));

    assert.equal(queuePosition({ accountId: 'a', rank, queues: given }), position);
  });
}

test('positions are those in which accounts take turns', () => {
  const random = randomFrom(41);
  for (let run = 0; run < 100; run++) {
    const queues = Array.from({ length: 1 + random.integer(5) }, (_, index) => ({
      accountId: `acct_${index}`,
      waiting: 1 + random.integer(6),
      lastTurnMs: random.pick([null, random.integer(4)]),
    }));
    const started = startInTurn(queues.map((queue) => ({ ...queue })));

    const places = started.map(({ accountId, rank }) => queuePosition({ accountId, rank, queues }));

    assert.deepEqual(
      places,
      started.map((_, index) => index + 1),
    );
  }
});

/** Starts one job after the other, always of the account whose turn it is. */
function startInTurn(queues: { accountId: string; waiting: number; lastTurnMs: number | null }[]) {
  const started: { accountId: string; rank: number }[] = [];
  const ranks = new Map<string, number>();
  for (let nowMs = 100; queues.some(({ waiting }) => waiting > 0); nowMs++) {
    const [next] = queues
      .filter(({ waiting }) => waiting > 0)
      .sort(
        (left, right) =>
          (left.lastTurnMs ?? 0) - (right.lastTurnMs ?? 0) || (left.accountId < right.accountId ? -1 : 1),
      );
    const rank = (ranks.get(next!.accountId) ?? 0) + 1;
    ranks.set(next!.accountId, rank);
    started.push({ accountId: next!.accountId, rank });
    next!.waiting--;
    next!.lastTurnMs = nowMs;
  }
  return started;
}
