import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type FixtureAccount, openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { openDatabase } from '../../db/database.ts';
import { newId } from '../../rules/ids.ts';
import { dropDay, listDays } from './partition-store.ts';
import { maintainPartitions, sweepAttempts } from './retention.ts';
import { deleteOldAttempts } from './retention-store.ts';

type Fixture = Awaited<ReturnType<typeof openDeliveryFixture>>;

const NOW = new Date('2031-05-20T09:30:00.000Z');
const KEEP_DAYS = { lite: 7, pro: 30 };
const DAY_MS = 86_400_000;
const clock = { sleep: async () => undefined };

function daysAgo(days: number, ms = 0): Date {
  return new Date(NOW.getTime() - days * DAY_MS + ms);
}

function retention(fixture: Fixture, now: Date = NOW, keepDays = KEEP_DAYS) {
  return { db: fixture.db, clock, keepDays, now };
}

let serial = 0;

/** A row of the log, as old as `createdAt`; returns its id. */
async function logAttempt(
  fixture: Fixture,
  { shard, id: accountId }: FixtureAccount,
  createdAt: Date,
): Promise<string> {
  const bytes = new Uint8Array(10);
  new DataView(bytes.buffer).setUint32(6, ++serial);
  const id = newId('dlv', createdAt.getTime(), bytes);
  await fixture.db.run({
    text: `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
        response_body, created_at, completed_at)
      values ($1, $2, $3, 'wh_1', 'evt_1', 'webhook.test', 'dl_1', 'https://a.example/', 1, 'succeeded', 'ok', $4, $4)`,
    values: [shard, id, accountId, createdAt],
  });
  return id;
}

async function logged(fixture: Fixture): Promise<string[]> {
  const rows = await fixture.db.rows<{ id: string }>({ text: 'select id from attempts order by id' });
  return rows.map(({ id }) => id);
}

async function placeOf(fixture: Fixture, id: string): Promise<string> {
  const text = 'select tableoid::regclass::text as place from attempts where id = $1';
  const [row] = await fixture.db.rows<{ place: string }>({ text, values: [id] });
  return row!.place;
}

async function dayNames(fixture: Fixture): Promise<string[]> {
  return (await listDays(fixture.db)).map(({ name }) => name);
}

test('partitions are made for today and three days ahead, once, and rows go into them', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();

  const first = await maintainPartitions(retention(fixture));
  const again = await maintainPartitions(retention(fixture));
  const nextDay = await maintainPartitions(retention(fixture, daysAgo(-1)));
  const id = await logAttempt(fixture, account, new Date('2031-05-23T23:59:59.999Z'));

  assert.deepEqual(first.made, ['attempts_20310520', 'attempts_20310521', 'attempts_20310522', 'attempts_20310523']);
  assert.deepEqual(again, { made: [], dropped: [] });
  assert.deepEqual(nextDay.made, ['attempts_20310524']);
  assert.equal(await placeOf(fixture, id), 'attempts_20310523');
});

test('what was logged before its day had a partition moves into it, and nothing else does', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const midnight = new Date('2031-05-20T00:00:00Z');
  const before = await logAttempt(fixture, account, new Date(midnight.getTime() - 1));
  const atMidnight = await logAttempt(fixture, account, midnight);
  const today = await logAttempt(fixture, account, NOW);

  await maintainPartitions(retention(fixture));

  assert.deepEqual(await logged(fixture), [before, atMidnight, today]);
  assert.equal(await placeOf(fixture, before), 'attempts_default');
  assert.equal(await placeOf(fixture, atMidnight), 'attempts_20310520');
  assert.equal(await placeOf(fixture, today), 'attempts_20310520');
});

test('a day is dropped when its last moment is as old as the longest retention, and not a millisecond before', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await maintainPartitions(retention(fixture));
  await logAttempt(fixture, account, NOW);
  const dayEnd = new Date('2031-05-21T00:00:00Z').getTime();

  const early = await maintainPartitions(retention(fixture, new Date(dayEnd + 30 * DAY_MS - 1)));
  const kept = (await logged(fixture)).length;
  const inTime = await maintainPartitions(retention(fixture, new Date(dayEnd + 30 * DAY_MS)));

  assert.deepEqual(early.dropped, []);
  assert.equal(kept, 1);
  assert.deepEqual(inTime.dropped, ['attempts_20310520']);
  assert.deepEqual(await logged(fixture), []);
});

test('the longest retention decides, whichever plan has it', async () => {
  await using fixture = await openDeliveryFixture();
  await maintainPartitions(retention(fixture));

  const { dropped } = await maintainPartitions(retention(fixture, daysAgo(-40), { lite: 60, pro: 1 }));

  assert.deepEqual(dropped, []);
});

test('lite rows go row by row at 7 days; pro rows of the same day stay', async () => {
  await using fixture = await openDeliveryFixture();
  const [lite, pro] = [await fixture.account('lite'), await fixture.account('pro')];
  await maintainPartitions(retention(fixture, daysAgo(8)));
  const rowsOf = async (account: FixtureAccount) => ({
    older: await logAttempt(fixture, account, daysAgo(8)),
    edge: await logAttempt(fixture, account, daysAgo(7)),
    younger: await logAttempt(fixture, account, daysAgo(7, 1)),
  });
  const [ofLite, ofPro] = [await rowsOf(lite), await rowsOf(pro)];

  const deleted = await sweepAttempts(retention(fixture));

  assert.equal(deleted, 2);
  assert.deepEqual(await logged(fixture), [ofLite.younger, ...Object.values(ofPro)].sort());
  assert.notEqual(await placeOf(fixture, ofPro.older), 'attempts_default');
});

test('the default partition is swept for both plans', async () => {
  await using fixture = await openDeliveryFixture();
  const [lite, pro] = [await fixture.account('lite'), await fixture.account('pro')];
  await logAttempt(fixture, lite, daysAgo(7));
  const liteKept = await logAttempt(fixture, lite, daysAgo(7, 1));
  await logAttempt(fixture, pro, daysAgo(30));
  const proKept = await logAttempt(fixture, pro, daysAgo(30, 1));

  const deleted = await sweepAttempts(retention(fixture));

  assert.equal(deleted, 2);
  assert.deepEqual(await logged(fixture), [proKept, liteKept]);
});

test('a change of plan takes effect at the next sweep', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('pro');
  await maintainPartitions(retention(fixture, daysAgo(8)));
  await logAttempt(fixture, account, daysAgo(8));

  const asPro = await sweepAttempts(retention(fixture));
  await fixture.db.run({ text: `update accounts set plan = 'lite' where id = $1`, values: [account.id] });
  const asLite = await sweepAttempts(retention(fixture));

  assert.deepEqual([asPro, asLite], [0, 1]);
});

test('one statement deletes no more than its limit, over all accounts of the shard', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account('lite');
  for (let i = 0; i < 5; i++) await logAttempt(fixture, account, daysAgo(8));
  const batch = {
    partition: 'attempts_default',
    shard: account.shard,
    plan: 'lite',
    endsAt: daysAgo(7),
    limit: 2,
  } as const;

  const deleted = [];
  for (let i = 0; i < 4; i++) deleted.push(await deleteOldAttempts(fixture.db, batch));

  assert.deepEqual(deleted, [2, 2, 1, 0]);
});

test('a day is not dropped while somebody reads the log; it gives up soon, and goes later', async () => {
  await using fixture = await openDeliveryFixture();
  await maintainPartitions(retention(fixture));
  const [day] = await listDays(fixture.db);
  const other = openDatabase(fixture.db.url, { maxConnections: 1 });
  const reading = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const reader = other.transaction(async (tx) => {
    await tx.rows({ text: 'select id from attempts' });
    reading.resolve();
    await done.promise;
  });
  await reading.promise;

  const meanwhile = await dropDay(fixture.db, day!);
  const names = await dayNames(fixture);
  done.resolve();
  await reader;
  await other.close();
  const later = await dropDay(fixture.db, day!);

  assert.equal(meanwhile, 'busy');
  assert.ok(names.includes(day!.name));
  assert.equal(later, 'done');
});

test('making a day does not wait for who writes to another day', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await maintainPartitions(retention(fixture));
  const other = openDatabase(fixture.db.url, { maxConnections: 1 });
  const writing = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  const writer = other.transaction(async (tx) => {
    await logAttempt({ ...fixture, db: { ...fixture.db, ...tx } }, account, NOW);
    writing.resolve();
    await done.promise;
  });
  await writing.promise;

  const { made } = await maintainPartitions(retention(fixture, daysAgo(-1)));
  done.resolve();
  await writer;
  await other.close();

  assert.deepEqual(made, ['attempts_20310524']);
});

test('two nodes that turn the days at once make and drop each day once', async () => {
  await using fixture = await openDeliveryFixture();

  const turns = await Promise.all(Array.from({ length: 4 }, () => maintainPartitions(retention(fixture))));
  const later = await Promise.all(
    Array.from({ length: 4 }, () => maintainPartitions(retention(fixture, daysAgo(-40)))),
  );

  assert.equal(turns.flatMap(({ made }) => made).length, 4);
  assert.equal(later.flatMap(({ dropped }) => dropped).length, 4);
  assert.equal((await dayNames(fixture)).length, 4);
});
