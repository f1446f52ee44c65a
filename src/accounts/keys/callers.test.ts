import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Statement } from '../../db/database.ts';
import { shardOf } from '../../rules/shard.ts';
import { insertAccount } from '../store.ts';
import { Callers } from './callers.ts';
import { deleteKey, insertKey } from './key-store.ts';

const ACCOUNT = { id: 'acct_1', name: 'one', plan: 'pro', units: null, ledgerId: 'led_1' } as const;
const hashOf = (number: number) => Buffer.alloc(32, number);

/** Each look-up of a caller begins with this statement. */
const isLookUp = ({ name }: Statement) => name === 'find_key_by_hash';

/** A database with keys, of which `callers` looks up at the time `clock.ms`; `lookUps` counts its look-ups. */
async function openEnvironment({ keys = 1, expiresInMs = null as number | null } = {}) {
  const db = await openTestDatabase();
  await insertAccount(db, ACCOUNT);
  const expiresAt = expiresInMs === null ? null : new Date(Date.now() + expiresInMs);
  for (let i = 1; i <= keys; i++) {
    const key = { id: `key_${i}`, name: null, prefix: '', hash: hashOf(i), scopes: [], expiresAt };
    await insertKey(db, ACCOUNT.id, key);
  }
  await db.run({ text: 'update api_keys set last_used_at = clock_timestamp()' });
  const clock = { ms: 1_000 };
  const count = { lookUps: 0 };
  const counted = {
    ...db,
    rows: <Row>(statement: Statement) => {
      if (isLookUp(statement)) count.lookUps++;
      return db.rows<Row>(statement);
    },
  };
  const callers = new Callers(runtimeOn(counted), () => clock.ms);
  return { db, callers, clock, count, [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]() };
}

test('a key is looked up once in 900 ms, for requests at the same time too', async () => {
  await using environment = await openEnvironment();
  const { callers, clock, count } = environment;

  const found = await Promise.all([1, 2, 3].map(() => callers.find(hashOf(1))));
  clock.ms += 899;
  await callers.find(hashOf(1));
  const before = count.lookUps;
  clock.ms += 1;
  await callers.find(hashOf(1));

  assert.deepEqual(
    found.map((caller) => caller?.key.id),
    ['key_1', 'key_1', 'key_1'],
  );
  assert.deepEqual([before, count.lookUps], [1, 2]);
});

test('the caller of a key shows whether its account has credit', async () => {
  await using environment = await openEnvironment();
  const { db, callers, clock } = environment;
  const setAmount = (amount: number) =>
    db.run({ text: 'update accounts set unlimited = false, amount = $1', values: [amount] });
  const hadCredit = async () => {
    clock.ms += 900;
    return (await callers.find(hashOf(1)))?.account.hadCredit;
  };

  await setAmount(1);
  assert.equal(await hadCredit(), true);
  await setAmount(0);
  assert.equal(await hadCredit(), false);
});

test('a key that another node revokes is refused within 900 ms of any look-up, without a notification', async () => {
  await using environment = await openEnvironment();
  const { db, callers, clock } = environment;
  await callers.find(hashOf(1));
  await deleteKey(db, 'key_1', ACCOUNT.id);

  clock.ms += 899;
  const within = await callers.find(hashOf(1));
  clock.ms += 1;
  const after = await callers.find(hashOf(1));

  assert.deepEqual([within?.key.id, after], ['key_1', null]);
});

test('a key that is looked up again is read together with its account, which may have changed', async () => {
  await using environment = await openEnvironment();
  const { db, clock } = environment;
  const asked: (string | undefined)[] = [];
  const watched = {
    ...db,
    rows<Row>(statement: Statement) {
      asked.push(statement.name);
      return db.rows<Row>(statement);
    },
  };
  const callers = new Callers(runtimeOn(watched), () => clock.ms);
  const first = await callers.find(hashOf(1));
  await db.run({ text: `update accounts set plan = 'lite'` });
  clock.ms += 900;
  asked.length = 0;

  const again = callers.find(hashOf(1));
  const atOnce = [...asked];

  assert.deepEqual(
    [first, await again].map((caller) => caller?.account.plan),
    ['pro', 'lite'],
  );
  assert.deepEqual(atOnce, ['find_key_by_hash', 'find_account_of_key']);
  assert.deepEqual(asked, atOnce);
});

test('after forgetAll no request gets a caller that was looked up before, not even by a look-up under way', async () => {
  await using environment = await openEnvironment();
  const { db, callers, clock } = environment;
  const answers: (() => void)[] = [];
  const held = {
    ...db,
    async rows<Row>(statement: Statement) {
      const rows = await db.rows<Row>(statement);
      if (isLookUp(statement)) await new Promise<void>((resolve) => answers.push(resolve));
      return rows;
    },
  };
  const slow = new Callers(runtimeOn(held), () => clock.ms);
  await callers.find(hashOf(1));
  const underWay = slow.find(hashOf(1));
  await until('the row to be read', async () => answers.length === 1);

  await deleteKey(db, 'key_1', ACCOUNT.id);
  callers.forgetAll();
  slow.forgetAll();
  const late = slow.find(hashOf(1));
  await until('the row to be read again', async () => answers.length === 2);
  for (const answer of answers) answer();

  assert.equal(await callers.find(hashOf(1)), null);
  assert.deepEqual([(await underWay)?.key.id, await late], ['key_1', null]);
  const again = slow.find(hashOf(1));
  await until('a third look-up, because no answer was kept', async () => answers.length === 3);
  answers[2]!();
  assert.equal(await again, null);
});

test('a key that expires is looked up again at that time', async () => {
  await using environment = await openEnvironment({ expiresInMs: 60_000 });
  const { db, callers, clock, count } = environment;
  await db.run({ text: `update api_keys set expires_at = clock_timestamp() + interval '0.5 seconds'` });

  await callers.find(hashOf(1));
  clock.ms += 500;
  await callers.find(hashOf(1));

  assert.equal(count.lookUps, 2);
});

test('an unknown key is looked up each time, and so is a key whose look-up failed', async () => {
  await using environment = await openEnvironment();
  const { db, callers, count } = environment;
  let isAway = true;
  const away = { ...db, rows: <Row>(statement: Statement) => (isAway ? failed() : db.rows<Row>(statement)) };
  const failed = async () => {
    throw new Error('away');
  };
  const cut = new Callers(runtimeOn(away));

  const unknown = [await callers.find(hashOf(9)), await callers.find(hashOf(9))];
  await assert.rejects(cut.find(hashOf(1)), /away/);
  isAway = false;
  const back = await cut.find(hashOf(1));

  assert.deepEqual([unknown, count.lookUps, back?.account.shard], [[null, null], 2, shardOf(ACCOUNT.id)]);
});

test('with 10,000 keys in memory the one looked up first is dropped', async () => {
  const row = { keyId: 'key', scopes: [], expiresAt: null, isUseNoted: true, expiresInMs: null };
  let lookUps = 0;
  const rows = async (statement: Statement) => {
    if (isLookUp(statement)) lookUps++;
    return [row];
  };
  const callers = new Callers(runtimeOn({ rows } as never), () => 0);
  const hashes = Array.from({ length: 10_001 }, (_, i) => Buffer.from(String(i).padStart(32)));

  for (const hash of hashes) await callers.find(hash);
  await callers.find(hashes[10_000]!);
  await callers.find(hashes[1]!);
  const kept = lookUps;
  await callers.find(hashes[0]!);

  assert.deepEqual([kept, lookUps], [10_001, 10_002]);
});
