import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mayUsePlan, WEBHOOK_LIMIT } from './plan.ts';

test('lite has one webhook, pro five', () => {
  assert.deepEqual(WEBHOOK_LIMIT, { lite: 1, pro: 5 });
});

test('pro accounts may use both plans, lite accounts only lite', () => {
  assert.equal(mayUsePlan('lite', 'lite'), true);
  assert.equal(mayUsePlan('lite', 'pro'), false);
  assert.equal(mayUsePlan('pro', 'lite'), true);
  assert.equal(mayUsePlan('pro', 'pro'), true);
});
