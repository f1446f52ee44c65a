import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import { recoverAllWebhooks } from '../log/recover-all.ts';

const environment = await openWebhookFixture();
after(() => environment[Symbol.asyncDispose]());

/** An account with five webhooks, of which one is disabled, that goes from pro to lite. */
async function downgraded() {
  const { call, account } = await environment.caller('pro');
  const { db, webhook } = environment.fixture;
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) ids.push((await webhook(account)).id);
  await call('PATCH', `/v1/webhooks/${ids[0]}`, { active: false });
  await db.run({ text: "update accounts set plan = 'lite' where id = $1", values: [account.id] });
  const set = async (id: string | undefined, active: boolean) => await call('PATCH', `/v1/webhooks/${id}`, { active });
  return { call, account, ids, set };
}

test('after a change to a plan with fewer webhooks those that are active go on, and none is enabled beyond the plan', async () => {
  const { call, ids, set } = await downgraded();

  const active = (await call('GET', '/v1/webhooks')).json.data.filter((webhook: { active: boolean }) => webhook.active);
  const refused = await set(ids[0], true);
  const same = await set(ids[1], true);
  for (const id of ids.slice(1)) await set(id, false);
  const swapped = await set(ids[0], true);
  const second = await set(ids[1], true);

  assert.equal(active.length, 4);
  assert.deepEqual([refused.status, refused.json.error.type], [403, 'plan_limit']);
  assert.deepEqual([same.status, same.json.active], [200, true]);
  assert.deepEqual([swapped.status, swapped.json.active], [200, true]);
  assert.equal(second.status, 403);
});

test('of webhooks that are enabled at once no more are active than the plan allows', async () => {
  const { call, ids, set } = await downgraded();
  for (const id of ids.slice(1)) await set(id, false);

  const answers = await Promise.all(ids.map((id) => set(id, true)));

  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403, 403, 403]);
  const { data } = (await call('GET', '/v1/webhooks')).json;
  assert.equal(data.filter((webhook: { active: boolean }) => webhook.active).length, 1);
});

test('the webhook for alerts is enabled beside those of the plan', async () => {
  const { call } = await downgraded();
  await call('POST', '/v1/alerts', { url: 'https://alerts.example.com/' });
  await call('PATCH', '/v1/alerts', { active: false });

  const enabled = await call('PATCH', '/v1/alerts', { active: true });

  assert.deepEqual([enabled.status, enabled.json.active], [200, true]);
});

test('a recovery for all accounts enables as many disabled webhooks as the plan allows', async () => {
  const { call, account } = await downgraded();
  const { db } = environment.fixture;
  await db.run({
    text: `update webhooks set active = false, disabled_reason = 'consecutive_failures', disabled_at = now() where account_id = $1`,
    values: [account.id],
  });
  const wanted = { since: new Date(0), disabledSince: new Date(Date.now() - 3_600_000), now: new Date() };

  const { enabled } = await recoverAllWebhooks(db, { ...wanted, isDryRun: false });

  const { data } = (await call('GET', '/v1/webhooks')).json;
  assert.equal(enabled, 1);
  assert.equal(data.filter((webhook: { active: boolean }) => webhook.active).length, 1);
});
