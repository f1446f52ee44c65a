import assert from 'node:assert/strict';
import test from 'node:test';
import { recoverAll } from './recover-all.ts';

test('a time with more events than one request reads is recovered to its end', async () => {
  const asked: unknown[] = [];
  const answers = [{ events: 5, next_since: 'b' }, { events: 0, next_since: 'c' }, { events: 2 }];

  const events = await recoverAll(
    async (body) => {
      asked.push(body);
      return answers[asked.length - 1]!;
    },
    { since: 'a', until: 'z', dry_run: true },
  );

  assert.equal(events, 7);
  assert.deepEqual(
    asked,
    ['a', 'b', 'c'].map((since) => ({ since, until: 'z', dry_run: true })),
  );
});

test('an answer that goes nowhere ends the recovery', async () => {
  assert.equal(await recoverAll(async () => ({ events: 1, next_since: 'a' }), { since: 'a' }), 1);
});
