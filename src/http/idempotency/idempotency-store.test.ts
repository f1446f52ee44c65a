import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import * as store from './idempotency-store.ts';

const db = await openTestDatabase();
after(() => db[Symbol.asyncDispose]());

const TIMES = { route: 'POST /v1/transcribe', leaseMs: 60_000, keepMs: 600_000 };
const ANSWER = { status: 202, contentType: 'application/json', location: null, body: Buffer.from('{}') };
const SAVED = { ...ANSWER, fingerprint: 'f', keepMs: 600_000 };
let keys = 0;

/** A new key, leased once. @param times  in place of those of a request under way */
async function newKey(times: Partial<typeof TIMES> = {}): Promise<store.LeasedKey> {
  const name = { shard: 7, accountId: 'acct_test', key: `key-${(keys += 1)}` };
  assert.ok(await store.insertKey(db, name, { ...TIMES, ...times }));
  return { ...name, lease: 1 };
}

async function rowOf({ shard, accountId, key }: store.KeyName) {
  const rows = await db.rows({
    text: 'select * from idempotency_keys where shard = $1 and account_id = $2 and key = $3',
    values: [shard, accountId, key],
  });
  return rows[0] ?? null;
}

type Write = (key: store.LeasedKey) => Promise<unknown>;
const RESTART: Write = (key) => store.restartKey(db, key, TIMES);
const WRITES: Record<string, Write> = {
  'takes it over': (key) => store.takeOverKey(db, key, 90_000),
  'stores its job': (key) => store.setJob(db, key, { jobId: 'job_late', fingerprint: 'late' }),
  'saves an answer': (key) => store.saveAnswer(db, key, { ...SAVED, status: 500 }),
  'releases it': (key) => store.releaseKey(db, key),
  'renews its lease': (key) => store.renewLeases(db, [key], 90_000),
};

for (const [what, write] of Object.entries({ ...WRITES, 'starts it again': RESTART })) {
  test(`a request whose key another one has taken over no longer ${what}`, async () => {
    const key = await newKey();
    await store.takeOverKey(db, key, TIMES.leaseMs);
    const before = await rowOf(key);

    const result = await write(key);

    assert.deepEqual([result ?? false, await rowOf(key)], [false, before]);
  });
}

for (const [what, write] of Object.entries(WRITES)) {
  test(`after the answer to a key nobody ${what}`, async () => {
    const key = await newKey();
    await store.saveAnswer(db, key, SAVED);
    const before = await rowOf(key);

    const result = await write(key);

    assert.deepEqual([result ?? false, await rowOf(key)], [false, before]);
  });
}

test('a key that is started again has a higher lease, and nothing of the request before', async () => {
  const key = await newKey();
  await store.saveAnswer(db, key, SAVED);

  await RESTART(key);

  const { lease, jobId, fingerprint, answer } = (await store.lockKey(db, key))!;
  assert.deepEqual({ lease, jobId, fingerprint, answer }, { lease: 2, jobId: null, fingerprint: null, answer: null });
});

test('a released key is gone, and one with a job stays for the next request', async () => {
  const [without, withJob] = [await newKey(), await newKey()];
  await store.setJob(db, withJob, { jobId: 'job_a', fingerprint: 'f' });

  await store.releaseKey(db, without);
  await store.releaseKey(db, withJob);

  const left = await store.lockKey(db, withJob);
  assert.deepEqual([await rowOf(without), left?.jobId, left?.isLeaseOver], [null, 'job_a', true]);
});

test('a key that a request looks at is locked, and the sweep leaves it', async () => {
  const key = await newKey({ leaseMs: -1, keepMs: -1 });
  const sweep = () => store.deleteExpiredKeys(db, { shard: key.shard, limit: 10, now: null });

  const meanwhile = await db.transaction(async (tx) => {
    await store.lockKey(tx, key);
    return await sweep();
  });

  assert.deepEqual([meanwhile, await sweep()], [0, 1]);
});

test('the sweep leaves an expired key whose request is under way', async () => {
  const key = await newKey({ keepMs: -1 });

  assert.equal(await store.deleteExpiredKeys(db, { shard: key.shard, limit: 10, now: null }), 0);
  assert.notEqual(await rowOf(key), null);
});
