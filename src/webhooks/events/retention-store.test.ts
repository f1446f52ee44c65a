import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RoomAccount } from '../../../test/delivery-fixture.ts';
import { attemptOf, openDeliveryRoom } from '../../../test/delivery-fixture.ts';
import { claimDueDeliveries } from '../deliveries/claim-store.ts';
import { finishAttempts } from '../deliveries/finish-store.ts';
import { hasEvent, insertResends } from '../deliveries/resend-store.ts';
import { deleteOldEvents } from './retention-store.ts';

type Room = Awaited<ReturnType<typeof openDeliveryRoom>>;

const KEEP_DAYS = { lite: 7, pro: 30 };
const DAY_MS = 86_400_000;
const START = new Date('2031-05-20T09:30:00.000Z');
const BOUNDS = { disableFailures: 10, disableMs: 1_800_000 };

function after(days: number, ms = 0): Date {
  return new Date(START.getTime() + days * DAY_MS + ms);
}

function sweep(room: Room, { lane }: RoomAccount, now: Date, limit = 100): Promise<number> {
  return deleteOldEvents(room.db, { lane, keepDays: KEEP_DAYS, limit, now });
}

/** An event of `START`, delivered and settled. */
async function delivered(room: Room, account: RoomAccount): Promise<string> {
  const id = await room.emit(account, { now: START });
  await settle(room, account);
  return id;
}

async function settle(room: Room, { lane }: RoomAccount): Promise<void> {
  const claims = await claimDueDeliveries(room.db, { lane, limit: 10, leaseMs: 20_000, now: after(365) });
  await finishAttempts(room.db, { lane, attempts: claims.map((claim) => attemptOf(claim)), ...BOUNDS });
}

async function counts(room: Room): Promise<{ events: number; deliveries: number }> {
  const text = 'select (select count(*) from events) as events, (select count(*) from deliveries) as deliveries';
  const [row] = await room.db.rows<{ events: number; deliveries: number }>({ text });
  return row!;
}

const EDGES: ['lite' | 'pro', number][] = [
  ['lite', 7],
  ['pro', 30],
];

for (const [plan, days] of EDGES) {
  test(`on ${plan}, an event and its settled deliveries go ${days} days after it, and not a millisecond before`, async () => {
    await using room = await openDeliveryRoom();
    const account = await room.account(plan);
    await room.webhook(account);
    await delivered(room, account);

    const early = await sweep(room, account, after(days, -1));
    const kept = await counts(room);
    const inTime = await sweep(room, account, after(days));

    assert.deepEqual([early, inTime], [0, 1]);
    assert.deepEqual(kept, { events: 1, deliveries: 1 });
    assert.deepEqual(await counts(room), { events: 0, deliveries: 0 });
  });
}

test('an event that nobody subscribed to goes at the same time', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  await room.emit(account, { now: START });

  assert.equal(await sweep(room, account, after(7)), 1);
});

test('a change of plan takes effect at the next sweep', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('pro');
  await room.emit(account, { now: START });

  const asPro = await sweep(room, account, after(8));
  await room.db.run({ text: `update accounts set plan = 'lite' where id = $1`, values: [account.id] });
  const asLite = await sweep(room, account, after(8));

  assert.deepEqual([asPro, asLite], [0, 1]);
});

test('an event stays while a delivery of it waits or is being sent', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  await room.webhook(account);
  await room.emit(account, { now: START });

  const waiting = await sweep(room, account, after(100));
  await claimDueDeliveries(room.db, { lane: account.lane, limit: 10, leaseMs: 20_000, now: after(100) });
  const sending = await sweep(room, account, after(100));

  assert.deepEqual([waiting, sending], [0, 0]);
  assert.deepEqual(await counts(room), { events: 1, deliveries: 1 });
});

test('an event that was sent again stays until the log of that is as old', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  const webhook = await room.webhook(account);
  const eventId = await delivered(room, account);
  await insertResends(room.db, { lane: account.lane, accountId: account.id, webhookId: webhook.id }, [eventId]);
  await settle(room, account);
  await room.db.run({
    text: 'update deliveries set created_at = $1 where created_at <> $2',
    values: [after(6), START],
  });

  const early = await sweep(room, account, after(13, -1));
  const inTime = await sweep(room, account, after(13));

  assert.deepEqual([early, inTime], [0, 1]);
  assert.deepEqual(await counts(room), { events: 0, deliveries: 0 });
});

test('an event that somebody is about to send again is not deleted under their hands', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  const webhook = await room.webhook(account);
  const eventId = await delivered(room, account);
  const resend = { lane: account.lane, accountId: account.id, webhookId: webhook.id };

  const during = await room.db.transaction(async (tx) => {
    assert.equal(await hasEvent(tx, { lane: account.lane, eventId }), true);
    const swept = await sweep(room, account, after(100));
    await insertResends(tx, resend, [eventId]);
    return swept;
  });
  const afterwards = await sweep(room, account, after(100));

  assert.deepEqual([during, afterwards], [0, 0]);
  assert.deepEqual(await counts(room), { events: 1, deliveries: 2 });
});

test('an event that is gone is not sent again, and leaves no delivery without one', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  const webhook = await room.webhook(account);
  const eventId = await delivered(room, account);
  await sweep(room, account, after(7));

  await insertResends(room.db, { lane: account.lane, accountId: account.id, webhookId: webhook.id }, [eventId]);

  assert.equal(await hasEvent(room.db, { lane: account.lane, eventId }), false);
  assert.deepEqual(await counts(room), { events: 0, deliveries: 0 });
});

test('one transaction deletes no more than its limit, and the sweep of one lane touches no other', async () => {
  await using room = await openDeliveryRoom();
  const account = await room.account('lite');
  for (let i = 0; i < 5; i++) await room.emit(account, { now: START });

  const elsewhere = await sweep(room, { ...account, lane: (account.lane + 1) % 64 }, after(7));
  const deleted = [];
  for (let i = 0; i < 4; i++) deleted.push(await sweep(room, account, after(7), 2));

  assert.equal(elsewhere, 0);
  assert.deepEqual(deleted, [2, 2, 1, 0]);
});
