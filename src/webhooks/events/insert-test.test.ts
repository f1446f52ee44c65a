import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { until } from '../../../test/fixtures/until.ts';
import { readConfig } from '../../config/settings.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { isId, timeOfId } from '../../rules/ids.ts';
import { composeEvent } from './compose-event.ts';
import { insertTest } from './store.ts';

const ACCOUNT = { id: 'acct_a', shard: 7 };
const OTHER = { id: 'acct_b', shard: 9 };
const FIRST_DELAY_MS = 5_000;
const CONFIG = { ...readConfig({}), webhookRetryDelaysMs: [FIRST_DELAY_MS, 30_000] };

async function openEnvironment() {
  const db = await openTestDatabase();
  return {
    db,
    insert: (test: Parameters<typeof insertTest>[1]) => insertTest(db, test, CONFIG),
    async webhook(id: string, { active = true, account = ACCOUNT } = {}) {
      await db.run({
        text: `insert into webhooks (shard, id, account_id, url, events, active, disabled_reason, disabled_at, secret, created_at, updated_at)
          values ($1, $2, $3, 'https://x.example/', '{transcription.completed}', $4, case when $4 then null else 'manual' end,
            case when $4 then null else now() end, '', now(), now())`,
        values: [account.shard, id, account.id, active],
      });
    },
    events: () =>
      db.rows<{ id: string; webhookId: string; body: Buffer }>({
        text: 'select id, webhook_id as "webhookId", body from events order by id',
      }),
    deliveries: () =>
      db.rows<{
        shard: number;
        accountId: string;
        webhookId: string;
        eventId: string;
        attempt: number;
        delayMs: number;
      }>({
        text: `select shard, account_id as "accountId", webhook_id as "webhookId", event_id as "eventId", attempt,
            1000 * extract(epoch from next_at - clock_timestamp())::float8 as "delayMs"
          from deliveries
          order by event_id`,
      }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

const testOf = (webhookId: string, account = ACCOUNT) => ({
  webhookId,
  event: composeEvent({
    account,
    type: 'webhook.test' as const,
    jobId: null,
    metadata: null,
    data: { webhook: { id: webhookId } },
  }),
});

test('a test goes to the webhook named alone, subscribed or not, after the first delay', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  await fixture.webhook('wh_2');
  const sent = testOf('wh_1');

  const inserted = await fixture.insert(sent);

  const { id, body } = sent.event;
  assert.equal(inserted, true);
  assert.deepEqual(await fixture.events(), [{ id, webhookId: 'wh_1', body }]);
  assert.deepEqual(JSON.parse(body.toString()).data, { webhook: { id: 'wh_1' } });
  const deliveries = await fixture.deliveries();
  assert.deepEqual(
    deliveries.map(({ delayMs, ...delivery }) => ({ ...delivery, waits: delayMs > 0 && delayMs <= FIRST_DELAY_MS })),
    [{ shard: 7, accountId: 'acct_a', webhookId: 'wh_1', eventId: id, attempt: 1, waits: true }],
  );
});

test('the id of a delivery begins with the time of its event, so that it does not count as sent again, that of its attempt with the present time', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  const { event, webhookId } = testOf('wh_1');
  const id = makeId('evt', { ...systemClock, now: () => Date.now() - 1_000 });

  await fixture.insert({ webhookId, event: { ...event, id } });

  const [delivery] = await fixture.db.rows<{ id: string; attemptId: string }>({
    text: 'select id, attempt_id as "attemptId" from deliveries',
  });
  assert.ok(isId('dl', delivery!.id) && isId('dlv', delivery!.attemptId));
  assert.deepEqual([delivery!.id, delivery!.attemptId].map(timeOfId), [timeOfId(id), event.createdAt.getTime()]);
});

test('nothing is written of a test to a webhook that is disabled, gone or of another account, beside one that is sent', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', { active: false });
  await fixture.webhook('wh_2', { account: OTHER });
  await fixture.webhook('wh_4');

  const inserted = await Promise.all(['wh_1', 'wh_2', 'wh_3', 'wh_4'].map((id) => fixture.insert(testOf(id))));

  assert.deepEqual(inserted, [false, false, false, true]);
  const rows = [...(await fixture.events()), ...(await fixture.deliveries())];
  assert.deepEqual(
    rows.map(({ webhookId }) => webhookId),
    ['wh_4', 'wh_4'],
  );
});

test('the deliverers of the shards are notified, also after a transaction', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  await fixture.webhook('wh_2', { account: OTHER });
  await fixture.webhook('wh_3', { active: false });
  const notified: string[] = [];
  const stop = await fixture.db.listen('deliveries_due', (shard) => shard && notified.push(shard));

  await fixture.insert(testOf('wh_3'));
  await fixture.insert(testOf('wh_2', OTHER));
  await until('the first notification', () => notified.length > 0);
  await fixture.db.transaction(async (tx) => {
    await insertTest(tx, testOf('wh_1'), CONFIG);
  });
  await until('the second notification', () => notified.length > 1);

  assert.deepEqual(notified, ['9', '7']);
  await stop();
});
