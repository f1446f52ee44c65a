import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database, Statement } from '../../db/database.ts';
import { makeId, systemClock } from '../../platform/clock.ts';
import { isId, timeOfId } from '../../rules/ids.ts';
import { composeEvent } from './emit.ts';
import { TestInserts } from './test-inserts.ts';

const ACCOUNT = { id: 'acct_a', shard: 7 };
const OTHER = { id: 'acct_b', shard: 9 };
const FIRST_DELAY_MS = 5_000;

async function openEnvironment() {
  const db = await openTestDatabase();
  const statements: Statement[] = [];
  let held = Promise.resolve();
  const counted: Database = {
    ...db,
    async rows(statement) {
      statements.push(statement);
      await held;
      return await db.rows(statement);
    },
  };
  const inserts = new TestInserts(counted, { webhookRetryDelaysMs: [FIRST_DELAY_MS, 30_000] });
  return {
    ...{ db, counted, inserts, statements },
    /** Statements wait until the function that it returns is called. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return resolve;
    },
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
    ...{ account, type: 'webhook.test' as const, jobId: null, metadata: null },
    data: { webhook: { id: webhookId } },
  }),
});

test('a test goes to the webhook named alone, subscribed or not, after the first delay', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  await fixture.webhook('wh_2');
  const sent = testOf('wh_1');

  const inserted = await fixture.inserts.insert(sent);

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

test('the ids of a delivery begin with the time of its event, so that it does not count as sent again', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  const { event, webhookId } = testOf('wh_1');
  const id = makeId('evt', { ...systemClock, now: () => Date.now() - 1_000 });

  await fixture.inserts.insert({ webhookId, event: { ...event, id } });

  const [delivery] = await fixture.db.rows<{ id: string; attemptId: string }>({
    text: 'select id, attempt_id as "attemptId" from deliveries',
  });
  assert.ok(isId('dl', delivery!.id) && isId('dlv', delivery!.attemptId));
  assert.deepEqual([delivery!.id, delivery!.attemptId].map(timeOfId), [timeOfId(id), timeOfId(id)]);
});

test('nothing is written of a test to a webhook that is disabled, gone or of another account, beside one that is sent', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1', { active: false });
  await fixture.webhook('wh_2', { account: OTHER });
  await fixture.webhook('wh_4');

  const inserted = await Promise.all(['wh_1', 'wh_2', 'wh_3', 'wh_4'].map((id) => fixture.inserts.insert(testOf(id))));

  assert.deepEqual(inserted, [false, false, false, true]);
  const rows = [...(await fixture.events()), ...(await fixture.deliveries())];
  assert.deepEqual(
    rows.map(({ webhookId }) => webhookId),
    ['wh_4', 'wh_4'],
  );
});

test('tests that come while two statements run share the next one', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  const release = fixture.hold();

  const inserted: Promise<boolean>[] = [];
  for (let i = 0; i < 10; i++) {
    inserted.push(fixture.inserts.insert(testOf('wh_1')));
    await new Promise(setImmediate);
  }
  release();

  assert.deepEqual(await Promise.all(inserted), Array(10).fill(true));
  assert.equal(fixture.statements.length, 3);
});

test('tests that come together are inserted by few statements, each with an event and a delivery of its own', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  await fixture.webhook('wh_2', { account: OTHER });
  const sent = Array.from({ length: 200 }, (_, i) => (i % 2 === 0 ? testOf('wh_1') : testOf('wh_2', OTHER)));

  const inserted = await Promise.all(sent.map((one) => fixture.inserts.insert(one)));

  assert.ok(inserted.every(Boolean));
  assert.ok(fixture.statements.length <= 5, `${fixture.statements.length} statements`);
  const expected = sent.map(({ event, webhookId }) => ({ eventId: event.id, shard: event.shard, webhookId }));
  const byId = (a: { eventId: string }, b: { eventId: string }) => (a.eventId < b.eventId ? -1 : 1);
  assert.deepEqual(
    (await fixture.deliveries()).map(({ eventId, shard, webhookId }) => ({ eventId, shard, webhookId })).sort(byId),
    expected.sort(byId),
  );
});

test('a test that cannot be stored fails alone', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  const stored = testOf('wh_1');
  await fixture.inserts.insert(stored);
  const [first, last] = [testOf('wh_1'), testOf('wh_1')];

  const results = await Promise.allSettled([first, stored, last].map((one) => fixture.inserts.insert(one)));

  assert.deepEqual(
    results.map(({ status }) => status),
    ['fulfilled', 'rejected', 'fulfilled'],
  );
  assert.deepEqual(
    (await fixture.deliveries()).map(({ eventId }) => eventId).sort(),
    [stored, first, last].map(({ event }) => event.id).sort(),
  );
});

for (const mayNotify of [true, false]) {
  test(`the deliverers are notified ${mayNotify ? 'by' : 'after'} the statement, once for each shard`, async () => {
    await using fixture = await openEnvironment();
    await fixture.webhook('wh_1');
    await fixture.webhook('wh_2', { account: OTHER });
    const received: string[] = [];
    const stop = await fixture.db.listen('deliveries_due', (shard) => shard && received.push(shard));
    const later: string[] = [];
    const { notify } = fixture.counted;
    Object.assign(fixture.counted, {
      mayNotify: () => mayNotify,
      notify(...args: Parameters<typeof notify>) {
        later.push(args[1]);
        notify(...args);
      },
    });

    const sent = [testOf('wh_1'), testOf('wh_1'), testOf('wh_2', OTHER)];
    await Promise.all(sent.map((one) => fixture.inserts.insert(one)));
    fixture.db.notify('deliveries_due', 'last');
    await until('the last notification', () => received.includes('last'));

    assert.deepEqual(received.sort(), ['7', '9', 'last']);
    assert.deepEqual(later, mayNotify ? [] : ['7', '9']);
    await stop();
  });
}

test('the deliverers of the shards are notified, also after a transaction', async () => {
  await using fixture = await openEnvironment();
  await fixture.webhook('wh_1');
  await fixture.webhook('wh_2', { account: OTHER });
  await fixture.webhook('wh_3', { active: false });
  const notified: string[] = [];
  const stop = await fixture.db.listen('deliveries_due', (shard) => shard && notified.push(shard));

  await fixture.inserts.insert(testOf('wh_3'));
  await fixture.inserts.insert(testOf('wh_2', OTHER));
  await until('the first notification', () => notified.length > 0);
  await fixture.db.transaction(async (tx) => {
    await fixture.inserts.insertIn(tx, testOf('wh_1'));
  });
  await until('the second notification', () => notified.length > 1);

  assert.deepEqual(notified, ['9', '7']);
  await stop();
});
