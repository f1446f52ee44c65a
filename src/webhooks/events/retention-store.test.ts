import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FixtureAccount, finishedOf, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { insertResends } from '../deliveries/resend-store.ts';
import { deleteOldEvents } from './retention-store.ts';

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;

const KEEP_DAYS = { lite: 7, pro: 30 };
const DAY_MS = 86_400_000;
const START = new Date('2031-05-20T09:30:00.000Z');

function after(days: number, ms = 0): Date {
  return new Date(START.getTime() + days * DAY_MS + ms);
}

function sweep(fixture: Fixture, { shard }: FixtureAccount, now: Date, limit = 100): Promise<number> {
  return deleteOldEvents(fixture.db, { shard, keepDays: KEEP_DAYS, limit, now });
}

/** An event of `START`, delivered and settled. */
async function delivered(fixture: Fixture, account: FixtureAccount): Promise<string> {
  const id = await fixture.emit(account, { now: START });
  await settle(fixture, account);
  return id;
}

async function settle(fixture: Fixture, account: FixtureAccount): Promise<void> {
  const due = await fixture.due(account, { now: after(365) });
  await fixture.finish(due.map((delivery) => finishedOf(delivery)));
}

async function counts(fixture: Fixture): Promise<{ events: number; deliveries: number }> {
  const text = 'select (select count(*) from events) as events, (select count(*) from deliveries) as deliveries';
  const [row] = await fixture.db.rows<{ events: number; deliveries: number }>({ text });
  return row!;
}

const EDGES: ['lite' | 'pro', number][] = [
  ['lite', 7],
  ['pro', 30],
];

for (const [plan, days] of EDGES) {
  test(`on ${plan}, an event goes ${days} days after it, and not a millisecond before`, async () => {
    await using fixture = await openDeliveryFixture();
    const account = await fixture.account(plan);
    await fixture.webhook(account);
    await delivered(fixture, account);

    const early = await sweep(fixture, account, after(days, -1));
    const kept = await counts(fixture);
    const inTime = await sweep(fixture, account, after(days));

    assert.deepEqual([early, inTime], [0, 1]);
    assert.deepEqual(kept, { events: 1, deliveries: 0 });
    assert.deepEqual(await counts(fixture), { events: 0, deliveries: 0 });
  });
}

test('an event that nobody subscribed to goes at the same time', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  await fixture.emit(account, { now: START });

  assert.equal(await sweep(fixture, account, after(7)), 1);
});

test('a change of plan takes effect at the next sweep', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('pro');
  await fixture.emit(account, { now: START });

  const asPro = await sweep(fixture, account, after(8));
  await fixture.db.run({ text: `update accounts set plan = 'lite' where id = $1`, values: [account.id] });
  const asLite = await sweep(fixture, account, after(8));

  assert.deepEqual([asPro, asLite], [0, 1]);
});

test('an event stays while a delivery of it waits', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  await fixture.webhook(account);
  await fixture.emit(account, { now: START });

  const deleted = await sweep(fixture, account, after(100));

  assert.equal(deleted, 0);
  assert.deepEqual(await counts(fixture), { events: 1, deliveries: 1 });
});

test('an event that was sent again stays until the log of that is as old', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  const webhook = await fixture.webhook(account);
  const eventId = await delivered(fixture, account);
  await insertResends(fixture.db, { shard: account.shard, accountId: account.id, webhookId: webhook.id }, [eventId]);
  const [first] = await fixture.attempts();
  await settle(fixture, account);
  await fixture.db.run({
    text: 'update attempts set created_at = $1 where id <> $2',
    values: [after(6), first!['id']],
  });

  const early = await sweep(fixture, account, after(13, -1));
  const inTime = await sweep(fixture, account, after(13));

  assert.deepEqual([early, inTime], [0, 1]);
  assert.deepEqual(await counts(fixture), { events: 0, deliveries: 0 });
});

test('an event that somebody is about to send again is not deleted under their hands', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  const webhook = await fixture.webhook(account);
  const eventId = await delivered(fixture, account);
  const resend = { shard: account.shard, accountId: account.id, webhookId: webhook.id };

  const during = await fixture.db.transaction(async (tx) => {
    assert.equal(await insertResends(tx, resend, [eventId]), 1);
    return await sweep(fixture, account, after(100));
  });
  const afterwards = await sweep(fixture, account, after(100));

  assert.deepEqual([during, afterwards], [0, 0]);
  assert.deepEqual(await counts(fixture), { events: 1, deliveries: 1 });
});

test('an event that is gone is not sent again, and leaves no delivery without one', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  const webhook = await fixture.webhook(account);
  const eventId = await delivered(fixture, account);
  await sweep(fixture, account, after(7));

  const resend = { shard: account.shard, accountId: account.id, webhookId: webhook.id };
  const sent = await insertResends(fixture.db, resend, [eventId]);

  assert.equal(sent, 0);
  assert.deepEqual(await counts(fixture), { events: 0, deliveries: 0 });
});

test('one transaction deletes no more than its limit, and the sweep of one shard touches no other', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  for (let i = 0; i < 5; i++) await fixture.emit(account, { now: START });

  const elsewhere = await sweep(fixture, { ...account, shard: (account.shard + 1) % 64 }, after(7));
  const deleted = [];
  for (let i = 0; i < 4; i++) deleted.push(await sweep(fixture, account, after(7), 2));

  assert.equal(elsewhere, 0);
  assert.deepEqual(deleted, [2, 2, 1, 0]);
});
