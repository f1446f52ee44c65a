import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { insertAccount } from '../accounts/store.ts';
import { column, type ValuesOf } from '../db/statements/columns.ts';
import { makeId } from '../platform/clock.ts';
import { JOB_TABLE, NOTHING_REQUESTED } from './job.ts';

const ADDED = { priority: column('smallint', 0) };
type Added = ValuesOf<typeof ADDED>;

// Statements are made of the table when their modules are loaded: add a column before.
Object.assign(JOB_TABLE.requested, ADDED);
const { acceptFetch, acceptJob } = await import('./api/accept-store.ts');
const { findJob } = await import('./store.ts');

const AUDIO = { format: 'wav', sizeBytes: 7, tracks: [], audioKey: 'key', durationMs: 2_000, heldUnits: 0 };

async function openEnvironment() {
  const db = await openTestDatabase();
  await db.run({ text: 'alter table jobs add column priority smallint not null default 0' });
  const id = makeId('acct');
  const account = await insertAccount(db, { id, name: 'test', plan: 'pro', units: null, ledgerId: makeId('led') });
  const job = {
    ...NOTHING_REQUESTED,
    ...({ priority: 7 } satisfies Added),
    shard: account.shard,
    id: makeId('job'),
    accountId: account.id,
    keyId: null,
    plan: account.plan,
    filename: 'a.wav',
    audioSource: null,
    traceparent: null,
    unlimited: true,
  };
  return { db, job, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

test('a column that is added to the table of jobs is inserted, selected and typed', async () => {
  await using environment = await openEnvironment();
  const { db, job } = environment;

  await acceptJob(db, { ...job, ...AUDIO });

  const { priority } = (await findJob(db, job)) as unknown as Added;
  assert.equal(priority, 7);
  // @ts-expect-error the column has numbers
  assert.ok(priority satisfies string);
});

test('an accepted job is as it is read later: what nothing has written has its initial value', async () => {
  await using environment = await openEnvironment();
  const { db, job } = environment;

  const accepted = await acceptJob(db, { ...job, ...AUDIO, options: { keywords: ['a'] } });

  assert.deepEqual(await findJob(db, job), { ...accepted, words: null });
});

test('a job whose audio is to be fetched is as it is read later', async () => {
  await using environment = await openEnvironment();
  const { db, job } = environment;

  const accepted = await acceptFetch(db, { ...job, audioSource: 'https://example.com/a', request: Buffer.of(1) });

  assert.deepEqual(await findJob(db, job), { ...accepted, words: null });
});

test('the types of the table of jobs are those of the database', async () => {
  await using db = await openTestDatabase();
  const rows = await db.rows<{ name: string; type: string }>({
    text: `select column_name as name, udt_name::regtype::text as type from information_schema.columns where table_name = 'jobs'`,
  });
  const shortNames: Record<string, string> = { 'timestamp with time zone': 'timestamptz' };
  const types = new Map(rows.map(({ name, type }) => [name, shortNames[type] ?? type]));
  const { priority: _, ...table } = Object.assign({}, ...Object.values(JOB_TABLE));

  assert.deepEqual(
    Object.entries<{ type: string }>(table).map(([name, { type }]) => [name, type]),
    Object.keys(table).map((name) => [name, types.get(name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`))]),
  );
});
