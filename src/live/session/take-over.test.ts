import assert from 'node:assert/strict';
import test from 'node:test';
import { toneWav } from '../../../test/fixtures/audio/test-audio.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { takeOverSession } from './take-over.ts';

for (const [resumeSeconds, leaseSeconds] of [
  [600, 600],
  [0, 12],
] as const) {
  test(`a session whose process dies at once stays ${leaseSeconds} s for a client that may resume for ${resumeSeconds} s`, async () => {
    await using fixture = await openJobFixture();
    const { db } = fixture;
    const account = await fixture.account();
    const { json } = await fixture.transcribe(account, toneWav('a'), { async: 'true' });
    const key = { shard: account.shard, accountId: account.id, id: json.id };
    await db.run({ text: 'update jobs set is_live = true where id = $1', values: [key.id] });
    await db.run({
      text: 'insert into live_sessions (shard, job_id, account_id, options) values ($1, $2, $3, $4)',
      values: [key.shard, key.id, key.accountId, JSON.stringify({ resumeSeconds })],
    });

    const taken = await takeOverSession(db, key, 'node_test/http');

    const [job] = await db.rows<{ leftSeconds: number }>({
      text: `select extract(epoch from next_at - clock_timestamp())::float as "leftSeconds" from jobs where id = $1`,
      values: [key.id],
    });
    assert.equal(taken?.job.lease, 1);
    assert.ok(Math.abs(job!.leftSeconds - leaseSeconds) < 10, `${job!.leftSeconds} s`);
  });
}
