import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());

const AUDIO_URL = 'https://a.example.com/a.wav';

/** An account that was on pro when its request was admitted, and is on lite when its job is made. */
async function downgraded(credits: number | null) {
  const account = await fixture.account({ plan: 'pro', credits });
  const { shard, id } = account;
  await fixture.db.run({ text: "update accounts set plan = 'lite' where shard = $1 and id = $2", values: [shard, id] });
  return account;
}

const stateOf = async ({ shard, id }: { shard: number; id: string }) =>
  await fixture.db.rows({
    text: `
      select held, (select count(*) from jobs where shard = $1 and account_id = $2) as jobs,
        (select count(*) from webhooks where shard = $1 and account_id = $2) as webhooks
      from accounts
      where shard = $1 and id = $2`,
    values: [shard, id],
  });

for (const credits of [null, 10]) {
  const whose = credits === null ? 'an unlimited account' : 'an account with a balance';
  test(`an upload for pro of ${whose} that goes to lite meanwhile is refused, and nothing is held`, async () => {
    const account = await downgraded(credits);

    const file = await fixture.transcribe(account, wavFile(1), { plan: 'pro', async: 'true' });
    const byDefault = await fixture.transcribe(account, wavFile(1), { async: 'true' });
    const url = await fixture.post(
      account,
      '/v1/transcribe',
      jsonUpload({ audio_url: AUDIO_URL, plan: 'pro', async: true }),
    );
    const webhook_url = 'https://hooks.example.com/jobs';
    const webhook = await fixture.transcribe(account, wavFile(1), { plan: 'lite', webhook_url, async: 'true' });
    const before = await stateOf(account);
    const lite = await fixture.transcribe(account, wavFile(1), { plan: 'lite', async: 'true' });

    assert.deepEqual(
      [file, byDefault, url, webhook].map(({ status, json }) => [status, json.error?.type, json.error?.param]),
      [...Array(3).fill([403, 'plan_limit', 'plan']), [403, 'plan_limit', 'webhook_url']],
    );
    assert.deepEqual(before, [{ held: 0, jobs: 0, webhooks: 0 }]);
    assert.deepEqual([lite.status, lite.json.plan], [202, 'lite']);
  });
}
