import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { EndedWith } from './ended-jobs-store.ts';
import { retryEndedJobs } from './retry-ended.ts';

const AN_HOUR_MS = 3_600_000;

async function openEnvironment(credits: number | null = null) {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '24' });
  const account = await fixture.account({ credits });
  const submit = async () => (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json.id as string;
  // As a failed end leaves it: the hold is given back.
  const fail = async (id: string, type: string) => {
    await fixture.cancel(account, id);
    const text = `update jobs set state = 'failed', error_type = $2, error_message = 'x' where id = $1`;
    await fixture.db.run({ text, values: [id, type] });
  };
  const retry = (isDryRun = false, endedWith: EndedWith = { errorType: 'engine_error' }) => {
    const since = new Date(Date.now() - AN_HOUR_MS);
    return retryEndedJobs(fixture, { since, until: new Date(), endedWith, isDryRun });
  };
  const complete = async (id: string, codes: string[]) => {
    await fixture.cancel(account, id);
    const text = `update jobs set state = 'completed', transcript = '', warnings = $2 where id = $1`;
    await fixture.db.run({ text, values: [id, JSON.stringify(codes.map((code) => ({ code, message: 'x' })))] });
  };
  const queued = () =>
    fixture.db.rows<{ retryOf: string }>({ text: `select retry_of as "retryOf" from jobs where state = 'queued'` });
  return {
    fixture,
    account,
    submit,
    fail,
    complete,
    retry,
    queued,
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

const NONE = {
  retried: 0,
  audio_gone: 0,
  insufficient_balance: 0,
  account_gone: 0,
  retried_before: 0,
  nextSince: null,
};

test('jobs that failed with the error are retried once, also by two calls at once; a dry run only counts', async () => {
  await using environment = await openEnvironment();
  const [failed, other] = [await environment.submit(), await environment.submit()];
  await environment.fail(failed, 'engine_error');
  await environment.fail(other, 'unprocessable_audio');

  const counted = await environment.retry(true);
  const before = await environment.queued();
  const both = await Promise.all([environment.retry(), environment.retry()]);
  const again = await environment.retry();

  assert.deepEqual([counted, before], [{ ...NONE, retried: 1 }, []]);
  assert.equal(both[0].retried + both[1].retried, 1);
  assert.deepEqual(again, NONE);
  assert.deepEqual(await environment.queued(), [{ retryOf: failed }]);
  assert.equal((await environment.fixture.files()).length, 3);
});

test('jobs whose audio is erased, or whose cost the balance does not cover, are counted and left', async () => {
  await using environment = await openEnvironment(1);
  const [erased, unpaid] = [await environment.submit(), await environment.submit()];
  await environment.fail(erased, 'engine_error');
  await environment.fail(unpaid, 'engine_error');
  await environment.fixture.db.run({ text: 'update jobs set audio_key = null where id = $1', values: [erased] });
  await environment.fixture.db.run({ text: 'update accounts set amount = 0' });

  assert.deepEqual(await environment.retry(), { ...NONE, audio_gone: 1, insufficient_balance: 1 });
  assert.deepEqual(await environment.queued(), []);
  assert.equal((await environment.fixture.files()).length, 2);
});

test('jobs whose key has been revoked since are retried: the operator asks for it', async () => {
  await using environment = await openEnvironment();
  const failed = await environment.submit();
  await environment.fail(failed, 'engine_error');
  await environment.fixture.db.run({ text: 'delete from api_keys' });

  assert.deepEqual(await environment.retry(), { ...NONE, retried: 1 });
  assert.deepEqual(await environment.queued(), [{ retryOf: failed }]);
});

test('jobs that completed with a warning are retried once, and a retry that ends with it again is not', async () => {
  await using environment = await openEnvironment();
  const { submit, complete, retry, queued } = environment;
  const [silent, other, failed] = [await submit(), await submit(), await submit()];
  await complete(silent, ['repetition', 'untranscribed']);
  await complete(other, ['repetition']);
  await environment.fail(failed, 'engine_error');
  const untranscribed = { warning: 'untranscribed' } as const;

  const counted = await retry(true, untranscribed);
  const made = await retry(false, untranscribed);
  const retries = await queued();
  const again = await retry(false, untranscribed);
  const [{ id }] = (await environment.fixture.db.rows<{ id: string }>({
    text: `select id from jobs where state = 'queued'`,
  })) as [{ id: string }];
  await complete(id, ['untranscribed']);
  const still = await retry(false, untranscribed);

  assert.deepEqual([counted.retried, made.retried, retries], [1, 1, [{ retryOf: silent }]]);
  assert.deepEqual([again, still], [NONE, NONE]);
});
