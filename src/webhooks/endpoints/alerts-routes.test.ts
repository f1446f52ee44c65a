import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';

const URL = 'https://alerts.example.com/verbatim';

test('the webhook for alerts is set once for an account, beside the webhooks of its plan', async () => {
  await using environment = await openWebhookFixture();
  const { call } = await environment.caller('lite');
  const before = await call('GET', '/v1/alerts');

  const set = await call('POST', '/v1/alerts', { url: URL });
  const other = await call('POST', '/v1/alerts', { url: `${URL}/2` });
  const webhook = await call('POST', '/v1/webhooks', { url: URL, events: ['webhook.test'] });
  const { secret, ...shown } = other.json;

  assert.deepEqual([before.status, before.json], [200, { webhook: null }]);
  assert.deepEqual([set.status, other.status, webhook.status], [201, 201, 201]);
  assert.match(set.json.id, /^wha_/);
  assert.equal(other.json.id, set.json.id);
  assert.notEqual(secret, set.json.secret);
  assert.deepEqual((await call('GET', '/v1/alerts')).json, { webhook: shown });
  assert.equal((await call('GET', '/v1/webhooks')).json.data.length, 1);
});

test('the webhook for alerts obeys the rules for URLs, and is read, changed and deleted as others', async () => {
  await using environment = await openWebhookFixture();
  const { call } = await environment.caller();
  const { id } = (await call('POST', '/v1/alerts', { url: URL })).json;

  const refused = await call('POST', '/v1/alerts', { url: 'http://10.0.0.1/' });
  const changed = await call('PATCH', `/v1/webhooks/${id}`, { active: false });
  const deleted = await call('DELETE', `/v1/webhooks/${id}`);

  assert.deepEqual([refused.status, refused.json.error.type], [400, 'forbidden_url']);
  assert.deepEqual([changed.status, changed.json.active], [200, false]);
  assert.equal(deleted.status, 204);
  assert.deepEqual((await call('GET', '/v1/alerts')).json, { webhook: null });
});
