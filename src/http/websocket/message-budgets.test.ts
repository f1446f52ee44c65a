import assert from 'node:assert/strict';
import test from 'node:test';
import { Slices } from '../../platform/slices.ts';
import { MessageBudgets } from './message-budgets.ts';

const MIB = 2 ** 20;

function openBudgets(t: test.TestContext) {
  const clock = { nowMs: 0 };
  t.mock.method(performance, 'now', () => clock.nowMs);
  return { clock, budgets: new MessageBudgets(new Slices()) };
}

/** Takes messages until the budget refuses one. Returns how many it took. */
function takeAll(budget: { take(bytes: number): number }, bytes: number): number {
  let taken = 0;
  while (budget.take(bytes) === 0) taken += 1;
  return taken;
}

test('the sockets of an account share 4,000 messages a second, and no other account has fewer for it', (t) => {
  const { clock, budgets } = openBudgets(t);
  const [one, same, other] = ['a', 'a', 'b'].map((account) => budgets.of(account));

  assert.equal(takeAll(one!, 2), 4_001);
  assert.ok(same!.take(2) > 0);
  assert.equal(other!.take(2), 0);
  clock.nowMs += 500;
  assert.equal(takeAll(same!, 2), 2_000);
});

test('a message that is larger than what is left is taken, and made up for by those after it', (t) => {
  const { clock, budgets } = openBudgets(t);
  const budget = budgets.of('a');

  assert.equal(takeAll(budget, 4 * MIB + 1), 2);
  assert.equal(takeAll(budget, 1), 0);
  clock.nowMs += 1_000;
  assert.equal(takeAll(budget, 4 * MIB), 2);
});

test('a message that costs more takes the place of others', (t) => {
  const { budgets } = openBudgets(t);
  const budget = budgets.of('a');
  budget.charge(3_900);

  assert.equal(takeAll(budget, 2), 101);
});
