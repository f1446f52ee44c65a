import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Compile } from 'typebox/schema';
import { DISABLE_BOUNDS, finishedOf, openDeliveryFixture } from '../../../../test/fixtures/webhooks/delivery.ts';
import { alertsWebhookIdOf } from '../../../rules/ids.ts';
import { alertPayloads } from '../../event-payloads.ts';

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const later = (ms: number) => new Date(Date.now() + ms);

/** The alerts of an account, and to which webhooks they are to be delivered. */
async function alertsOf(fixture: Fixture, { shard, id }: Account) {
  const events = await fixture.db.rows<{ id: string; type: string; body: Buffer }>({
    text: `select id, type, body from events where shard = $1 and account_id = $2 and type in ('webhook.disabled', 'webhook.exhausted') order by id`,
    values: [shard, id],
  });
  const deliveries = await fixture.db.rows<{ eventId: string; webhookId: string }>({
    text: `select event_id as "eventId", webhook_id as "webhookId" from deliveries where shard = $1 and event_id > ''`,
    values: [shard],
  });
  return events.map((event) => ({
    type: event.type,
    isAsDocumented: isAsDocumented(event),
    data: JSON.parse(event.body.toString()).data,
    to: deliveries.filter(({ eventId }) => eventId === event.id).map(({ webhookId }) => webhookId),
  }));
}

function isAsDocumented({ type, body }: { type: string; body: Buffer }): boolean {
  return Compile(alertPayloads.find((payload) => payload.type === type)!.schema).Check(JSON.parse(body.toString()));
}

/** Adds the webhook for alerts. */
async function insertAlertsWebhook({ db }: Fixture, { shard, id }: Account): Promise<string> {
  const webhookId = alertsWebhookIdOf(id);
  await db.run({
    text: `
      insert into webhooks (shard, account_id, id, url, events, secret, created_at, updated_at)
      values ($1, $2, $3, 'https://alerts.example.com/', '{}', 'x', now(), now())`,
    values: [shard, id, webhookId],
  });
  return webhookId;
}

/** The last attempt of one more event fails. */
async function exhaust(fixture: Fixture, account: Account, webhookId: string, now: Date): Promise<void> {
  await fixture.emit(account);
  const waiting = await fixture.due(account, { now: later(7_200_000) });
  const due = waiting.find(({ delivery }) => delivery.webhookId === webhookId);
  await fixture.finish([finishedOf(due!, { succeeded: false, attempt: 4 })], now);
}

test('an account is told of the first delivery that has used up its attempts, and again after an hour', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const { id: webhookId } = await fixture.webhook(account);
  const alertsId = await insertAlertsWebhook(fixture, account);

  for (const ms of [0, 1_000, 3_601_000]) {
    await exhaust(fixture, account, webhookId, later(ms));
  }
  const alerts = await alertsOf(fixture, account);

  assert.deepEqual(
    alerts.map(({ type, isAsDocumented, to }) => [type, isAsDocumented, to]),
    [
      ['webhook.exhausted', true, [alertsId]],
      ['webhook.exhausted', true, [alertsId]],
    ],
  );
  assert.equal(alerts[0]!.data.webhook.id, webhookId);
  assert.equal(alerts[0]!.data.delivery.event_type, 'transcription.completed');
});

test('an account is told that a webhook was disabled, also without a webhook for alerts', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const { id: webhookId } = await fixture.webhook(account);
  const { disableFailures, disableMs } = DISABLE_BOUNDS;
  await fixture.db.run({
    text: `update webhooks set consecutive_failures = $2, failing_since = now() - $3 * interval '1 millisecond' where id = $1`,
    values: [webhookId, disableFailures - 1, disableMs + 60_000],
  });
  await fixture.emit(account);
  const [due] = await fixture.due(account);

  await fixture.finish([finishedOf(due!, { succeeded: false })]);
  const alerts = await alertsOf(fixture, account);

  assert.deepEqual(
    alerts.map(({ type, isAsDocumented, to }) => [type, isAsDocumented, to]),
    [['webhook.disabled', true, []]],
  );
  const { webhook } = alerts[0]!.data;
  assert.deepEqual([webhook.active, webhook.disabled_reason], [false, 'consecutive_failures']);
});
