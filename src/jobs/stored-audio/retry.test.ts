import assert from 'node:assert/strict';
import { utimesSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { TEST_ACTOR } from '../../../test/fixtures/caller.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Account } from '../../accounts/account.ts';
import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import { type Call, NO_IDEMPOTENCY_KEY } from '../../http/route.ts';
import { jobOr404 } from '../own-job.ts';
import { sweepOrphans } from '../retention/audio-sweep.ts';
import { retryJob } from './retry.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;

const MINUTE = wavFile(60);
const ADMIT_ALL = { admit: async () => ({ [Symbol.dispose]: () => undefined }), requireCredit: async () => undefined };

/** A canceled job whose audio is kept. */
async function openEnvironment(credits: number | null = null) {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '24' });
  const account = await fixture.account({ credits });
  const { id } = (await fixture.transcribe(account, MINUTE, { async: 'true', plan: 'lite' })).json;
  await fixture.cancel(account, id);
  return { fixture, account, id, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

async function retry(fixture: Fixture, account: Account, id: string, through: Database = fixture.db) {
  const api = { ...fixture, db: through, uploads: ADMIT_ALL };
  const checkCaller = async () => undefined;
  const call = { account, actor: TEST_ACTOR, checkCaller, idempotency: NO_IDEMPOTENCY_KEY, upload: {} };
  return await retryJob(api, call as unknown as Call<0, 0, 0>, await jobOr404(fixture.db, account, id), null);
}

/** A database that does the work of a transaction and then fails in this way. */
function failing(db: Database, error: Error, commits: boolean): Database {
  return {
    ...db,
    async transaction(work) {
      if (commits) await db.transaction(work);
      else await db.transaction(async (tx) => void (await work(tx).then(() => Promise.reject(error))));
      throw error;
    },
  };
}

const LOST = Object.assign(new Error('Connection terminated'), { code: 'ECONNRESET' });
const REFUSED = Object.assign(new Error('deadlock'), { code: '40P01', severity: 'ERROR' });

test('retries at the same time make jobs with a hold and audio of their own each', async () => {
  await using environment = await openEnvironment(10);
  const { fixture, account, id } = environment;

  const answers = await Promise.all([retry(fixture, account, id), retry(fixture, account, id)]);

  assert.equal(new Set(answers.map(({ body }) => body.id)).size, 2);
  assert.equal((await fixture.files()).length, 3);
  const rows = await fixture.db.rows<{ key: string; held: number }>({
    text: `select audio_key as key, held_units as held from jobs where state = 'queued'`,
  });
  const [{ held }] = (await fixture.db.rows<{ held: number }>({ text: 'select held from accounts' })) as [
    { held: number },
  ];
  assert.equal(new Set(rows.map(({ key }) => key)).size, 2);
  assert.ok(rows[0]!.held > 0);
  assert.equal(
    held,
    rows.reduce((sum, row) => sum + row.held, 0),
  );
});

test('a retry keeps the title and the tags, by which it is found too', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, id } = environment;
  const body = { title: 'Call', tags: ['sales'] };
  const change = { params: { id }, body: body as unknown as undefined, bodyText: JSON.stringify(body) };
  await fixture.call(account, 'PATCH', '/v1/jobs/:id', change);

  const { body: again } = await retry(fixture, account, id);

  const { title, tags, id: newId } = again;
  const found = (await fixture.get(account, '/v1/jobs', { query: { tag: 'sales' } })).json.data;
  assert.deepEqual({ title, tags }, body);
  assert.deepEqual(found.map((job: { id: string }) => job.id).sort(), [id, newId].sort());
});

test('a retry of a job with audio by URL shows where the audio came from', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, id } = environment;
  const source = 'https://files.example/calls/a.wav';
  await fixture.db.run({ text: 'update jobs set audio_source = $1', values: [source] });

  const { body } = await retry(fixture, account, id);

  assert.equal(body.audio.source, source);
});

test('a retry that the balance does not cover, or that is rolled back, leaves no audio behind', async () => {
  await using poor = await openEnvironment(1);
  const { fixture, account, id } = poor;
  await retry(fixture, account, id);
  const before = await fixture.files();

  const refused = await retry(fixture, account, id).catch((error: unknown) => error);
  await assert.rejects(
    retry(fixture, { ...account, unlimited: true }, id, failing(fixture.db, REFUSED, false)),
    REFUSED,
  );

  assert.ok(refused instanceof ApiError);
  assert.equal(refused.type, 'insufficient_balance');
  assert.deepEqual(await fixture.files(), before);
});

test('a copy is kept when the commit may have happened; without a job it is swept, with one it stays', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, id } = environment;
  await assert.rejects(retry(fixture, account, id, failing(fixture.db, LOST, true)), LOST);
  await assert.rejects(retry(fixture, account, id, failing(fixture.db, LOST, false)), LOST);
  const copies = await fixture.files();

  const young = await sweepOrphans(fixture);
  const old = new Date(Date.now() - 7_200_000);
  for (const name of copies) utimesSync(path.join(fixture.folder, name), old, old);
  const swept = await sweepOrphans(fixture);

  const kept = await fixture.db.rows<{ key: string }>({ text: 'select audio_key as key from jobs' });
  assert.deepEqual([copies.length, young, swept], [3, 0, 1]);
  assert.deepEqual((await fixture.files()).sort(), kept.map(({ key }) => key).sort());
});

test('a job that has not ended, or whose audio is erased, is not retried', async () => {
  await using environment = await openEnvironment();
  const { fixture, account, id } = environment;
  const open = (await fixture.transcribe(account, MINUTE, { async: 'true' })).json.id;
  const ofOpen = await retry(fixture, account, open).catch((error: unknown) => error);
  const { audioKey } = await jobOr404(fixture.db, account, id);
  await fixture.storage.remove(audioKey!);
  const ofErased = await retry(fixture, account, id).catch((error: unknown) => error);

  assert.deepEqual(
    [ofOpen, ofErased].map((error) => error instanceof ApiError && error.type),
    ['conflict', 'conflict'],
  );
  assert.equal((await fixture.files()).length, 1);
});
