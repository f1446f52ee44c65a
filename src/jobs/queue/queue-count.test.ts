import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { correctQueueCounts } from './queue-count.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  return Object.assign(fixture, {
    owner: account,
    submit: async (of: Account = account) =>
      (await fixture.transcribe(of, wavFile(0.1), { async: 'true' })).json.id as string,
    counts: () => fixture.db.rows<{ waiting: number }>({ text: 'select waiting from job_queues order by waiting' }),
  });
}

test('the count follows each change of a waiting job', async () => {
  await using fixture = await openEnvironment();
  const seen: number[] = [];
  const look = async () => void seen.push((await fixture.counts())[0]!.waiting);

  const [, second, third] = [await fixture.submit(), await fixture.submit(), await fixture.submit()];
  await look();
  await claimNextJob(fixture.db, 0);
  await look();
  await fixture.endLeases();
  await look();
  await claimNextJob(fixture.db, 60_000);
  await look();
  await fixture.cancel(fixture.owner, second);
  await look();
  await fixture.erase(fixture.owner, third);
  await look();

  assert.deepEqual(seen, [3, 2, 2, 2, 1, 0]);
  assert.deepEqual(await correctQueueCounts(fixture.db), []);
});

for (const { title, change, counted } of [
  { title: 'too low', change: 'update job_queues set waiting = 0', counted: 0 },
  { title: 'too high', change: 'update job_queues set waiting = 7', counted: 7 },
  { title: 'missing', change: 'delete from job_queues', counted: 0 },
]) {
  test(`a count that is ${title} is reported and corrected, and the job starts`, async () => {
    await using fixture = await openEnvironment();
    const id = await fixture.submit();
    await fixture.submit(await fixture.account());
    await fixture.db.run({ text: `${change} where account_id = $1`, values: [fixture.owner.id] });

    const wrong = await correctQueueCounts(fixture.db);

    assert.deepEqual(wrong, [{ accountId: fixture.owner.id, counted, waiting: 1 }]);
    assert.deepEqual(await fixture.counts(), [{ waiting: 1 }, { waiting: 1 }]);
    const claimed = [await claimNextJob(fixture.db, 60_000), await claimNextJob(fixture.db, 60_000)];
    assert.ok(claimed.some((job) => job?.id === id));
  });
}
