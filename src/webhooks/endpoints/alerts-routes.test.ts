import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import { makeId } from '../../platform/clock.ts';
import { webhookIdOfJob } from '../../rules/ids.ts';
import { findMissedEvents, insertResends } from '../deliveries/resend-store.ts';

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

test('the webhook for alerts obeys the rules for URLs, and is changed and deleted under /v1/alerts', async () => {
  await using environment = await openWebhookFixture();
  const { call } = await environment.caller();
  const before = [await call('PATCH', '/v1/alerts', { active: true }), await call('DELETE', '/v1/alerts')];
  await call('POST', '/v1/alerts', { url: URL });
  const headers = { Authorization: 'Bearer x' };

  const refused = await Promise.all([
    call('POST', '/v1/alerts', { url: 'http://10.0.0.1/' }),
    call('PATCH', '/v1/alerts', { url: 'https://10.0.0.1/' }),
    call('PATCH', '/v1/alerts', { events: ['transcription.completed'] }),
    call('PATCH', '/v1/alerts', { include: ['text'] }),
    call('PATCH', '/v1/alerts', {}),
  ]);
  const changed = await call('PATCH', '/v1/alerts', { url: `${URL}/2`, headers, max_per_second: 5, active: false });
  const deleted = await call('DELETE', '/v1/alerts');

  assert.deepEqual(
    before.map(({ status }) => status),
    [404, 404],
  );
  assert.deepEqual(
    refused.map(({ status, json }) => [status, json.error.type, json.error.param]),
    [
      [400, 'forbidden_url', 'url'],
      [400, 'forbidden_url', 'url'],
      [400, 'invalid_request', 'events'],
      [400, 'invalid_request', 'include'],
      [400, 'invalid_request', undefined],
    ],
  );
  const { url, headers: names, max_per_second, active, events } = changed.json;
  assert.deepEqual([changed.status, url, names, max_per_second], [200, `${URL}/2`, ['Authorization'], 5]);
  assert.deepEqual([active, events], [false, []]);
  assert.equal(deleted.status, 204);
  assert.deepEqual((await call('GET', '/v1/alerts')).json, { webhook: null });
});

test('no route or field for webhooks takes the webhook for alerts but test, deliveries and rotate-secret', async () => {
  await using environment = await openWebhookFixture();
  const { call, account } = await environment.caller('lite');
  const { id } = (await call('POST', '/v1/alerts', { url: URL })).json;
  const eventId = await environment.fixture.emit(account);
  const sent = (await call('POST', `/v1/webhooks/${id}/test`)).json.event_id;
  const [{ id: entry }] = (await call('GET', `/v1/webhooks/${id}/deliveries`)).json.data;
  const path = `/v1/webhooks/${id}`;
  const since = '2020-01-01T00:00:00Z';
  const routes: ['GET' | 'POST' | 'PATCH' | 'DELETE', string, object | undefined, number, string?][] = [
    ['GET', path, undefined, 400, 'id'],
    ['PATCH', path, { events: ['transcription.completed'] }, 400, 'id'],
    ['PATCH', path, { active: true }, 400, 'id'],
    ['DELETE', path, undefined, 400, 'id'],
    ['POST', `${path}/recover`, { since }, 400, 'id'],
    ['POST', `${path}/recover`, { since, dry_run: true }, 400, 'id'],
    ['POST', `${path}/redeliver`, { delivery_ids: [entry] }, 400, 'id'],
    ['POST', `${path}/deliveries/${entry}/redeliver`, undefined, 400, 'id'],
    ['GET', `${path}/metrics`, undefined, 400, 'id'],
    ['POST', `${path}/diagnose`, { headers: {}, body: '' }, 400, 'id'],
    ['POST', `/v1/events/${eventId}/resend`, { webhook_id: id }, 400, 'webhook_id'],
    ['POST', `/v1/events/${sent}/resend`, { webhook_id: id }, 400, 'webhook_id'],
    ['POST', `${path}/test`, { type: 'transcription.completed' }, 400, 'type'],
    ['POST', `${path}/test`, undefined, 202],
    ['POST', `${path}/test`, { type: 'webhook.test' }, 202],
    ['POST', `${path}/rotate-secret`, {}, 200],
    ['GET', `${path}/deliveries`, undefined, 200],
    ['GET', `${path}/deliveries/${entry}`, undefined, 200],
    ['GET', `/v1/deliveries?webhook_id=${id}`, undefined, 200],
  ];

  const answers = [];
  for (const [method, url, body] of routes) answers.push(await call(method, url, body));

  assert.deepEqual(
    answers.map(({ status, json }, index) => [...routes[index]!.slice(0, 2), status, json?.error?.param]),
    routes.map(([method, url, , status, param]) => [method, url, status, param]),
  );
  const { db } = environment.fixture;
  const waiting = await db.rows<{ type: string }>({
    text: 'select distinct event_type as type from deliveries where webhook_id = $1',
    values: [id],
  });
  assert.deepEqual(waiting, [{ type: 'webhook.test' }]);
});

test('neither a recovery nor a resend inserts events of jobs for the webhook for alerts, also where it subscribes to them', async () => {
  await using environment = await openWebhookFixture();
  const { call, account } = await environment.caller('lite');
  const { db, emit } = environment.fixture;
  const { id } = (await call('POST', '/v1/alerts', { url: URL })).json;
  await db.run({ text: "update webhooks set events = '{transcription.completed}' where id = $1", values: [id] });
  const eventId = await emit(account);
  const resend = { shard: account.shard, accountId: account.id, webhookId: id };

  const missed = await findMissedEvents(db, resend, {
    after: { at: '2020-01-01T00:00:00Z', id: '' },
    until: null,
    eventType: null,
    status: null,
  });
  const sent = await insertResends(db, resend, [eventId]);

  assert.deepEqual([missed.ids, sent], [[], 0]);
});

test('the webhook of a job is sent no event of another job, nor any webhook the test of another', async () => {
  await using environment = await openWebhookFixture();
  const { call, account } = await environment.caller();
  const { db, emit, webhook } = environment.fixture;
  const { id } = await webhook(account);
  const other = await webhook(account);
  const ofJob = webhookIdOfJob(makeId('job'));
  await db.run({
    text: `insert into webhooks (shard, account_id, id, url, events, secret, created_at, updated_at)
      values ($1, $2, $3, $4, '{transcription.completed}', 'x', now(), now())`,
    values: [account.shard, account.id, ofJob, URL],
  });
  const eventId = await emit(account);
  const tested = (await call('POST', `/v1/webhooks/${other.id}/test`)).json.event_id;
  const resend = async (event: string, webhook_id: string) =>
    (await call('POST', `/v1/events/${event}/resend`, { webhook_id })).status;

  assert.deepEqual(
    [await resend(eventId, ofJob), await resend(tested, id), await resend(tested, other.id), await resend(eventId, id)],
    [400, 400, 202, 202],
  );
});
