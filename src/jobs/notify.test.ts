import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../test/fixtures/claim.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { COMPLETED } from '../../test/fixtures/outcome.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Account } from '../accounts/account.ts';
import type { Database } from '../db/database.ts';
import { endJob } from './end/end.ts';

async function addWebhook(db: Database, { id, shard }: Pick<Account, 'id' | 'shard'>): Promise<void> {
  await db.run({
    text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
      values ($1, 'wh_1', $2, 'https://x.example/', '{transcription.completed}', '', now(), now())`,
    values: [shard, id],
  });
}

test('the end of a job with its delivery is announced once', async () => {
  await using fixture = await openJobFixture();
  const { db } = fixture;
  const account = await fixture.account();
  const received: string[] = [];
  await addWebhook(db, account);
  for (const channel of ['jobs_due', 'job_ended', 'job_changed', 'deliveries_due']) {
    await db.listen(channel, (word) => void (word !== '' && received.push(`${channel} ${word}`)));
  }

  const first = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json.id as string;
  const claimed = (await claimNextJob(db, 60_000))!;
  await endJob(fixture, claimed, COMPLETED);
  db.notify('jobs_due', 'last');
  await until('the last notification', () => received.includes('jobs_due last'));

  const once = new Set(received);
  assert.deepEqual(
    [...once].sort(),
    [...[`job_changed ${first}`, `job_ended ${first}`, `deliveries_due ${account.shard}`], 'jobs_due last'].sort(),
  );
});
