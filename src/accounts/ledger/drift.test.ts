import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import type { Database, Sql } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { insertAccount } from '../store.ts';
import { countDriftedAccounts } from './drift.ts';
import { holdForJob } from './ledger-store.ts';

const SLICES = { entriesPerSlice: 3 };

async function openAccount(db: Database, moves: number) {
  const wish = { id: makeId('acct'), name: 'one', plan: 'pro' as const, units: 1_000, ledgerId: makeId('led') };
  const account = await insertAccount(db, wish);
  for (let i = 0; i < moves; i++) await holdForJob(db, { account, jobId: makeId('job'), units: 10 });
  return account;
}

/** Counts the ledger entries that the slices summed. */
function counting(db: Database): { sql: Sql; entries: () => number } {
  let entries = 0;
  const rows: Sql['rows'] = async (statement) => {
    const found = await db.rows<never>(statement);
    const [first] = found as { entries?: number }[];
    entries += first?.entries ?? 0;
    return found;
  };
  return { sql: { ...db, rows }, entries: () => entries };
}

test('ledgers are summed in slices, and the next check reads only what is new', async () => {
  await using db = await openTestDatabase();
  const account = await openAccount(db, 10);
  await openAccount(db, 0);
  const first = counting(db);
  assert.equal(await countDriftedAccounts(first.sql, SLICES), 0);
  await holdForJob(db, { account, jobId: 'job_new', units: 10 });

  const second = counting(db);
  assert.equal(await countDriftedAccounts(second.sql, SLICES), 0);

  assert.deepEqual([first.entries(), second.entries()], [12, 1]);
});

test('a balance that is not the sum of its ledger is found, however old the entry is that was lost', async () => {
  await using db = await openTestDatabase();
  const [account, other] = [await openAccount(db, 5), await openAccount(db, 5)];
  assert.equal(await countDriftedAccounts(db, SLICES), 0);

  await db.run({ text: 'update accounts set amount = amount + 1 where id = $1', values: [account.id] });
  await db.run({ text: 'update accounts set held = held + 1 where id = $1', values: [other.id] });

  assert.equal(await countDriftedAccounts(db, SLICES), 2);
  assert.equal(await countDriftedAccounts(db, SLICES), 2);
  await db.run({ text: 'update accounts set amount = amount - 1 where id = $1', values: [account.id] });
  assert.equal(await countDriftedAccounts(db, SLICES), 1);
});

test('a check that is stopped knows nothing', async () => {
  await using db = await openTestDatabase();
  await openAccount(db, 1);

  assert.equal(await countDriftedAccounts(db, { ...SLICES, signal: AbortSignal.abort() }), null);
});
