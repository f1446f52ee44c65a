import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Database, Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import { makeId } from '../../platform/clock.ts';
import { shardOf } from '../../rules/shard.ts';
import { findAccount, insertAccount } from '../store.ts';
import { addCredit, holdForJob, moveUnits, settlementValues } from './ledger-store.ts';

const SETTLE = defineStatement({ name: 'settle' }, `with ${moveUnits({ moment: 'now()' })} select from moved`);

async function settleJob(sql: Sql, job: Parameters<typeof settlementValues>[0]): Promise<void> {
  await sql.run(SETTLE(settlementValues(job)));
}

async function openAccount(db: Database, units: number | null) {
  const account = { id: makeId('acct'), name: 'one', plan: 'pro' as const, units, ledgerId: makeId('led') };
  return await insertAccount(db, account);
}

async function balanceOf(db: Database, id: string) {
  const row = await findAccount(db, id);
  return { amount: row!.amount, held: row!.held };
}

async function sumsOf(db: Database, id: string) {
  const [sums] = await db.rows<{ amount: number; held: number }>({
    text: `
      select coalesce(sum(amount_change), 0)::bigint as amount, coalesce(sum(held_change), 0)::bigint as held
      from ledger
      where shard = $1 and account_id = $2`,
    values: [shardOf(id), id],
  });
  return sums!;
}

test('a hold moves units aside; its end takes the cost and gives back the rest', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 1_000);

  await holdForJob(db, { account, jobId: 'job_1', units: 300 });
  await holdForJob(db, { account, jobId: 'job_2', units: 200 });
  assert.deepEqual(await balanceOf(db, account.id), { amount: 500, held: 500 });

  await settleJob(db, { account, jobId: 'job_1', heldUnits: 300, costUnits: 250 });
  await settleJob(db, { account, jobId: 'job_2', heldUnits: 200, costUnits: 0 });
  assert.deepEqual(await balanceOf(db, account.id), { amount: 750, held: 0 });
  assert.deepEqual(await sumsOf(db, account.id), { amount: 750, held: 0 });
});

test('a hold that the balance does not cover changes nothing and says what is missing', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 100);

  const answer = await holdForJob(db, { account, jobId: 'job_1', units: 130 });

  assert.deepEqual(answer, { kind: 'short', missingUnits: 30 });
  assert.deepEqual(await balanceOf(db, account.id), { amount: 100, held: 0 });
});

test('a cost beyond its hold is refused and changes nothing', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 100);
  await holdForJob(db, { account, jobId: 'job_1', units: 80 });

  await assert.rejects(settleJob(db, { account, jobId: 'job_1', heldUnits: 80, costUnits: 81 }), /job_1 costs 81/);

  assert.deepEqual(await balanceOf(db, account.id), { amount: 20, held: 80 });
});

test('an account that its operator debited below zero still gets its holds settled, and no new ones', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 100);
  await holdForJob(db, { account, jobId: 'job_1', units: 80 });
  await addCredit(db, { account, units: -500, note: 'chargeback' });

  await settleJob(db, { account, jobId: 'job_1', heldUnits: 80, costUnits: 70 });
  const held = await holdForJob(db, { account, jobId: 'job_2', units: 1 });

  assert.deepEqual(held, { kind: 'short', missingUnits: 471 });
  assert.deepEqual(await balanceOf(db, account.id), { amount: -470, held: 0 });
});

test('a hold cannot be ended twice', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 100);
  await holdForJob(db, { account, jobId: 'job_1', units: 80 });
  await settleJob(db, { account, jobId: 'job_1', heldUnits: 80, costUnits: 0 });

  await assert.rejects(settleJob(db, { account, jobId: 'job_1', heldUnits: 80, costUnits: 0 }));

  assert.deepEqual(await balanceOf(db, account.id), { amount: 100, held: 0 });
});

test('an unlimited account pays nothing and leaves no ledger', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, null);

  await holdForJob(db, { account, jobId: 'job_1', units: 80 });
  await settleJob(db, { account, jobId: 'job_1', heldUnits: 0, costUnits: 80 });
  const credit = await addCredit(db, { account, units: 5, note: null });

  assert.equal(credit, null);
  const [{ count }] = (await db.rows<{ count: number }>({ text: 'select count(*) from ledger' })) as [
    { count: number },
  ];
  assert.equal(count, 0);
});

test('a transaction that fails leaves neither a hold nor its entry', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 100);

  const failed = db.transaction(async (tx) => {
    await holdForJob(tx, { account, jobId: 'job_1', units: 80 });
    throw new Error('the job was not stored');
  });

  await assert.rejects(failed, /was not stored/);
  assert.deepEqual(await balanceOf(db, account.id), { amount: 100, held: 0 });
  assert.deepEqual(await sumsOf(db, account.id), { amount: 100, held: 0 });
});

test('concurrent jobs of random cost never overdraw, and the ledger sums up at every step', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 2_000);
  const random = randomFrom(61_121);
  const drifts: unknown[] = [];

  async function liveOneJob(plan: { units: number; costUnits: number; fails: boolean }): Promise<number> {
    const job = { account, jobId: makeId('job') };
    const held = await db.transaction((tx) => holdForJob(tx, { ...job, units: plan.units }));
    await checkSums();
    if (held.kind === 'short') return 0;
    const missing = Math.max(0, plan.costUnits - plan.units);
    const grown = await db.transaction((tx) => holdForJob(tx, { ...job, units: missing }));
    await checkSums();
    const heldUnits = plan.units + (grown.kind === 'held' ? missing : 0);
    const costUnits = plan.fails || grown.kind === 'short' ? 0 : plan.costUnits;
    await db.transaction((tx) => settleJob(tx, { ...job, heldUnits, costUnits }));
    return costUnits;
  }

  async function checkSums(): Promise<void> {
    const [row] = await db.rows<{ ok: boolean }>({
      text: `
        select amount = sum(amount_change) and held = sum(held_change) and amount >= 0 and held >= 0 as ok
        from accounts join ledger on ledger.shard = accounts.shard and ledger.account_id = accounts.id
        group by amount, held`,
    });
    if (!row?.ok) drifts.push(row);
  }

  const plans = Array.from({ length: 150 }, () => {
    const units = random.integer(200);
    return { units, costUnits: Math.floor(units * random.next() * 1.6), fails: random.next() < 0.3 };
  });
  const costs = await Promise.all(plans.map(liveOneJob));

  const spent = costs.reduce((sum, cost) => sum + cost, 0);
  assert.deepEqual(drifts, []);
  assert.deepEqual(await balanceOf(db, account.id), { amount: 2_000 - spent, held: 0 });
  assert.deepEqual(await sumsOf(db, account.id), { amount: 2_000 - spent, held: 0 });
  assert.ok(spent > 0);
});
