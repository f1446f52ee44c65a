import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import * as store from './fetch-store.ts';

const db = await openTestDatabase();
after(() => db[Symbol.asyncDispose]());

const SHARD = 5;
let accounts = 0;

/** An account with due fetches. */
async function withFetches(count: number) {
  const accountId = `acct_${(accounts += 1)}`;
  for (let index = 0; index < count; index += 1) {
    await db.run({
      text: `
        insert into audio_fetches (shard, job_id, account_id, request, next_at, created_at)
        values ($1, $2, $3, '', clock_timestamp(), clock_timestamp())`,
      values: [SHARD, `job_${accountId}_${index}`, accountId],
    });
  }
  const claim = (wish: Partial<store.FetchesToClaim> = {}, sql: Pick<typeof db, 'rows'> = db) =>
    store.claimFetches(sql as typeof db, {
      shard: SHARD,
      accountId,
      perAccount: 2,
      places: 8,
      holder: 'node_x/fetcher',
      leaseMs: 60_000,
      ...wish,
    });
  const rows = () =>
    db.rows({ text: 'select * from audio_fetches where account_id = $1 order by job_id', values: [accountId] });
  return { claim, rows };
}

type Write = (claim: store.FetchClaim) => Promise<unknown>;
const DELETE: Write = (claim) => store.deleteFetch(db, claim);
const WRITES: Record<string, Write> = {
  'releases it': (claim) => store.releaseFetch(db, claim, { tries: 1, spentMs: 5, delayMs: 1_000 }),
  'renews its lease': async (claim) =>
    (await store.renewFetches(db, [claim], { shard: SHARD, leaseMs: 90_000 })).length,
};

for (const [what, write] of Object.entries({ ...WRITES, 'deletes it': DELETE })) {
  test(`a process whose fetch another one has claimed no longer ${what}`, async () => {
    const { claim, rows } = await withFetches(1);
    const [lost] = await claim({ leaseMs: -1 });
    await claim({ holder: 'node_y/fetcher' });
    const before = await rows();

    const result = await write(lost!);

    assert.deepEqual([Boolean(result), await rows()], [false, before]);
  });
}

for (const [what, write] of Object.entries(WRITES)) {
  test(`after the return of a fetch nobody ${what}`, async () => {
    const { claim, rows } = await withFetches(1);
    const [lost] = await claim();
    await store.returnFetchesOf(db, 'node_x/');
    const before = await rows();

    const result = await write(lost!);

    assert.deepEqual([Boolean(result), await rows()], [false, before]);
  });
}

test('an account has as many fetches under way as it may have, and those whose lease has ended are not counted', async () => {
  const { claim } = await withFetches(4);

  const counts = [];
  for (const wish of [{ places: 1 }, {}, {}, { perAccount: 3, leaseMs: -1 }, { perAccount: 3 }]) {
    counts.push((await claim(wish)).length);
  }

  assert.deepEqual(counts, [1, 1, 0, 1, 1]);
});

test('a fetch that is being ended is not waited for: it counts as held, and is not claimed', async () => {
  const { claim } = await withFetches(1);
  const [held] = await claim({ leaseMs: -1 });

  const meanwhile = await db.transaction(async (tx) => {
    await tx.rows({ text: 'select from audio_fetches where job_id = $1 for update', values: [held!.id] });
    return [(await claim()).length, await store.renewFetches(db, [held!], { shard: SHARD, leaseMs: 60_000 })];
  });

  assert.deepEqual(meanwhile, [0, [held!.id]]);
});
