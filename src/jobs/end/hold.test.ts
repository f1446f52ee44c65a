import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { EngineError } from '../../engines/engine.ts';
import { costUnits, creditsFromUnits } from '../../rules/jobs/price.ts';
import { growHold } from './hold.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const RATE = 2;
const CREDITS_PER_SECOND = RATE / 60;
const SAMPLE_RATE = 16_000;

/** Submits a file whose decoded length differs from the length that the probe finds. Start workers afterwards. */
async function submit(fixture: Fixture, account: Account, { claimedSeconds = 1, seconds = 75 } = {}): Promise<string> {
  const before = await fixture.files();
  const { json } = await fixture.transcribe(account, wavFile(claimedSeconds), { async: 'true' });
  const [name] = (await fixture.files()).filter((file) => !before.includes(file));
  await writeFile(path.join(fixture.folder, name!), wavFile(seconds));
  return json.id;
}

const balanceOf = async (fixture: Fixture, account: Account) => {
  const [row] = await fixture.db.rows<{ amount: number; held: number }>({
    text: 'select amount, held from accounts where id = $1',
    values: [account.id],
  });
  return { amount: creditsFromUnits(row!.amount), held: creditsFromUnits(row!.held) };
};
const entries = async (fixture: Fixture) =>
  (await fixture.db.rows<{ kind: string }>({ text: 'select kind from ledger order by id' })).map(({ kind }) => kind);
const credits = (seconds: number) => creditsFromUnits(costUnits(Math.ceil(seconds * 1000), RATE));
/** Waits until a piece of the job is stored, and returns its end. */
async function readPiece(fixture: Fixture, account: Account, id: string): Promise<number> {
  for await (const { event, data } of fixture.watch(account, id)) if (event === 'segment') return data.end;
  throw new Error('the job ended before a piece could be read');
}

test('the hold grows before the engine is given audio beyond it', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account);
  await fixture.startWorker(engine);
  let givenSeconds = 0;

  for (let piece = 0; piece < 3; piece++) {
    const call = await engine.nextCall();
    givenSeconds += call.piece.length / SAMPLE_RATE;
    const { held } = await balanceOf(fixture, account);
    assert.ok(held >= credits(givenSeconds), `${held} credits are held for ${givenSeconds} s`);
    call.say('words');
  }

  const job = await fixture.ended(account, id);
  assert.deepEqual([job.status, job.cost], ['completed', credits(75)]);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - credits(75), held: 0 });
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'hold', 'hold', 'hold', 'capture']);
});

test('audio beyond the balance is not transcribed; the job fails and is charged for its transcribed part', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 50 * CREDITS_PER_SECOND });
  const engine = openFakeEngine({ slots: 4 });
  const id = await submit(fixture, account);
  await fixture.startWorker(engine);

  const first = await engine.nextCall();
  first.say('words');
  const job = await fixture.ended(account, id);

  const paidSeconds = first.piece.length / SAMPLE_RATE;
  assert.deepEqual([job.status, job.error.type, job.text], ['failed', 'insufficient_balance', null]);
  assert.match(job.error.message, /its first \d+\.\d+ seconds cost \d\.\d+ credits and the balance holds 1\.666666\./);
  assert.ok(job.audio.duration_seconds > 50 && job.audio.duration_seconds <= 60);
  assert.deepEqual([engine.count(), job.cost], [1, credits(paidSeconds)]);
  const { amount, held } = await balanceOf(fixture, account);
  assert.deepEqual([held, Math.round((amount + job.cost) * 1e5)], [0, Math.round(50 * CREDITS_PER_SECOND * 1e5)]);
});

test('a canceled job is charged for its stored pieces, not for the piece that the engine still has', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account, { claimedSeconds: 75 });
  await fixture.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(fixture, account, id);
  await engine.nextCall();

  const { json } = await fixture.cancel(account, id);

  assert.deepEqual([json.status, json.text, json.cost], ['canceled', null, credits(readSeconds)]);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - json.cost, held: 0 });
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'capture']);
});

test('text that was stored before a job was started again is charged when the job is canceled', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account, { claimedSeconds: 75 });
  const worker = await fixture.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(fixture, account, id);
  await worker.stop();
  assert.equal((await fixture.job(account, id)).status, 'queued');

  const { json } = await fixture.cancel(account, id);

  assert.equal(json.cost, credits(readSeconds));
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - json.cost, held: 0 });
});

test('an unlimited account has no ledger entries, and its jobs show their cost', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const [one, other] = [await submit(fixture, account), await submit(fixture, account)];
  const engine = openFakeEngine();
  await fixture.startWorker(engine, { concurrency: 1 });
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(fixture, account, one);
  await engine.nextCall();

  const canceled = await fixture.cancel(account, one);
  for (let piece = 0; piece < 3; piece++) (await engine.nextCall()).say('words');
  const completed = await fixture.ended(account, other);

  assert.equal(canceled.json.cost, credits(readSeconds));
  assert.equal(completed.cost, credits(75));
  assert.deepEqual([await entries(fixture), await balanceOf(fixture, account)], [[], { amount: 0, held: 0 }]);
});

test('a failure of the service is free, even when text was stored before', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account);
  await fixture.startWorker(engine);
  (await engine.nextCall()).say('words');
  await readPiece(fixture, account, id);

  (await engine.nextCall()).fail(new EngineError('engine_error', 'It broke.'));
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, job.cost], ['failed', 0]);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10, held: 0 });
});

test('audio that fails after text was stored is charged for the stored text', async () => {
  await using fixture = await openJobFixture({ MAX_AUDIO_SECONDS: '100' });
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account, { seconds: 130 });
  await fixture.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(fixture, account, id);

  (await engine.nextCall()).say('words');
  const job = await fixture.ended(account, id);

  assert.equal(job.error.type, 'unprocessable_audio');
  assert.ok(job.cost >= credits(readSeconds) && job.cost <= credits(60), `${job.cost} for ${readSeconds} s`);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - job.cost, held: 0 });
});

test('jobs of one account that compete for its last credits do not overspend', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 200 * CREDITS_PER_SECOND });
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push(await submit(fixture, account));
  await fixture.startWorker(openFakeEngine({ slots: 3, says: 'words' }), { concurrency: 4 });

  const jobs = await Promise.all(ids.map((id) => fixture.ended(account, id)));

  const completed = jobs.filter(({ status }) => status === 'completed');
  const failed = jobs.filter(({ error }) => error?.type === 'insufficient_balance');
  assert.ok(completed.length <= 2 && completed.length + failed.length === 4, `${completed.length} completed`);
  const spent = jobs.reduce((sum, { cost }) => sum + cost, 0);
  const { amount, held } = await balanceOf(fixture, account);
  assert.ok(amount >= 0 && held === 0);
  assert.ok(Math.abs(amount + spent - 200 * CREDITS_PER_SECOND) < 1e-5, `${amount} left, ${spent} spent`);
});

test('a grown hold belongs to the job: the next worker does not hold it again', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  await submit(fixture, account);
  const units = costUnits(30_000, RATE);
  const died = (await claimNextJob(fixture.db, 60_000))!;

  assert.deepEqual(await growHold(fixture.db, died, units), { kind: 'held', heldUnits: units });
  // The answer was lost, so the same worker retries.
  assert.deepEqual(await growHold(fixture.db, died, units), { kind: 'held', heldUnits: units });
  await fixture.endLeases();
  const next = (await claimNextJob(fixture.db, 60_000))!;
  assert.deepEqual(await growHold(fixture.db, next, units), { kind: 'held', heldUnits: units });

  assert.equal(next.heldUnits, units);
  assert.deepEqual(await growHold(fixture.db, died, 2 * units), { kind: 'lost' });
  assert.deepEqual(await balanceOf(fixture, account), { amount: 9, held: 1 });
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'hold']);
});

test('a job whose probed length is right needs no transaction for its hold', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account, { claimedSeconds: 75 });
  const { transaction } = fixture.db;
  let transactions = 0;
  fixture.db.transaction = (work) => {
    transactions++;
    return transaction(work);
  };

  await fixture.startWorker(openFakeEngine({ says: 'words' }));
  await fixture.ended(account, id);

  assert.equal(transactions, 0);
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'capture']);
});

test('a hold waits while the database is away, and the job continues', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const id = await submit(fixture, account);
  const { transaction } = fixture.db;
  let tries = 0;
  fixture.db.transaction = async (work) => {
    if (++tries > 1) return await transaction(work);
    await transaction(work);
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  };

  await fixture.startWorker(openFakeEngine({ says: 'words' }));
  const job = await until('the end', async () => {
    const shown = await fixture.job(account, id);
    return shown.completed_at !== null && shown;
  });

  assert.deepEqual([job.status, job.cost], ['completed', credits(75)]);
  assert.deepEqual(await entries(fixture), ['credit', 'hold', 'hold', 'hold', 'hold', 'capture']);
});
