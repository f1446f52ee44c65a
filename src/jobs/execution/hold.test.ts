import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openFakeEngine } from '../../../test/fake-engine.ts';
import { openJobRoom } from '../../../test/job-fixture.ts';
import { until } from '../../../test/until.ts';
import { wavFile } from '../../../test/wav.ts';
import { EngineError } from '../../engines/engine.ts';
import { costUnits, creditsFromUnits } from '../../rules/jobs/price.ts';
import { claimNextJob } from '../queue/claim.ts';
import { growHold } from './hold.ts';

type Room = Awaited<ReturnType<typeof openJobRoom>>;
type Account = Awaited<ReturnType<Room['account']>>;

const RATE = 2;
const CREDITS_PER_SECOND = RATE / 60;
const SAMPLE_RATE = 16_000;

/** Submits a file that turns out longer, when it is decoded, than it claimed when it was probed. Start workers afterwards. */
async function submit(room: Room, account: Account, { claimedSeconds = 1, seconds = 75 } = {}): Promise<string> {
  const before = await room.files();
  const { json } = await room.transcribe(account, wavFile(claimedSeconds), { async: 'true' });
  const [name] = (await room.files()).filter((file) => !before.includes(file));
  await writeFile(path.join(room.folder, name!), wavFile(seconds));
  return json.id;
}

const balanceOf = async (room: Room, account: Account) => {
  const [row] = await room.db.rows<{ amount: number; held: number }>({
    text: 'select amount, held from accounts where id = $1',
    values: [account.id],
  });
  return { amount: creditsFromUnits(row!.amount), held: creditsFromUnits(row!.held) };
};
const entries = async (room: Room) =>
  (await room.db.rows<{ kind: string }>({ text: 'select kind from ledger order by id' })).map(({ kind }) => kind);
const credits = (seconds: number) => creditsFromUnits(costUnits(Math.ceil(seconds * 1000), RATE));
/** Waits until a piece of the job can be read, and gives its end. */
async function readPiece(room: Room, account: Account, id: string): Promise<number> {
  for await (const { event, data } of room.watch(account, id)) if (event === 'segment') return data.end;
  throw new Error('the job ended before a piece could be read');
}

test('the hold grows before the engine is given audio beyond it', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(room, account);
  await room.startWorker(engine);
  let givenSeconds = 0;

  for (let piece = 0; piece < 3; piece++) {
    const call = await engine.nextCall();
    givenSeconds += call.piece.length / SAMPLE_RATE;
    const { held } = await balanceOf(room, account);
    assert.ok(held >= credits(givenSeconds), `${held} credits are held for ${givenSeconds} s`);
    call.say('words');
  }

  const job = await room.ended(account, id);
  assert.deepEqual([job.status, job.cost], ['completed', credits(75)]);
  assert.deepEqual(await balanceOf(room, account), { amount: 10 - credits(75), held: 0 });
  assert.deepEqual(await entries(room), ['credit', 'hold', 'hold', 'hold', 'hold', 'capture']);
});

test('audio beyond the balance reaches no engine; the job fails, and costs what was transcribed', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 50 * CREDITS_PER_SECOND });
  const engine = openFakeEngine({ slots: 4 });
  const id = await submit(room, account);
  await room.startWorker(engine);

  const first = await engine.nextCall();
  first.say('words');
  const job = await room.ended(account, id);

  const paidSeconds = first.piece.length / SAMPLE_RATE;
  assert.deepEqual([job.status, job.error.type, job.text], ['failed', 'insufficient_balance', null]);
  assert.match(job.error.message, /its first \d+\.\d+ seconds cost \d\.\d+ credits and the balance holds 1\.666667\./);
  assert.ok(job.audio.duration_seconds > 50 && job.audio.duration_seconds <= 60);
  assert.deepEqual([engine.count(), job.cost], [1, credits(paidSeconds)]);
  const { amount, held } = await balanceOf(room, account);
  assert.deepEqual([held, Math.round((amount + job.cost) * 1e5)], [0, Math.round(50 * CREDITS_PER_SECOND * 1e5)]);
});

test('a canceled job costs the pieces that could be read; one that the engine still has is free', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(room, account, { claimedSeconds: 75 });
  await room.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(room, account, id);
  await engine.nextCall();

  const { json } = await room.cancel(account, id);

  assert.deepEqual([json.status, json.text, json.cost], ['canceled', null, credits(readSeconds)]);
  assert.deepEqual(await balanceOf(room, account), { amount: 10 - json.cost, held: 0 });
  assert.deepEqual(await entries(room), ['credit', 'hold', 'capture']);
});

test('text that was read before a job had to be begun again is paid for when it is canceled', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(room, account, { claimedSeconds: 75 });
  const worker = await room.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(room, account, id);
  await worker.stop();
  assert.equal((await room.job(account, id)).status, 'queued');

  const { json } = await room.cancel(account, id);

  assert.equal(json.cost, credits(readSeconds));
  assert.deepEqual(await balanceOf(room, account), { amount: 10 - json.cost, held: 0 });
});

test('an unlimited account has no ledger, and its jobs still say what they cost', async () => {
  await using room = await openJobRoom();
  const account = await room.account();
  const [one, other] = [await submit(room, account), await submit(room, account)];
  const engine = openFakeEngine();
  await room.startWorker(engine, { concurrency: 1 });
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(room, account, one);
  await engine.nextCall();

  const canceled = await room.cancel(account, one);
  for (let piece = 0; piece < 3; piece++) (await engine.nextCall()).say('words');
  const completed = await room.ended(account, other);

  assert.equal(canceled.json.cost, credits(readSeconds));
  assert.equal(completed.cost, credits(75));
  assert.deepEqual([await entries(room), await balanceOf(room, account)], [[], { amount: 0, held: 0 }]);
});

test('a failure of the service is free, even when text could be read before', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(room, account);
  await room.startWorker(engine);
  (await engine.nextCall()).say('words');
  await readPiece(room, account, id);

  (await engine.nextCall()).fail(new EngineError('engine_error', 'It broke.'));
  const job = await room.ended(account, id);

  assert.deepEqual([job.status, job.cost], ['failed', 0]);
  assert.deepEqual(await balanceOf(room, account), { amount: 10, held: 0 });
});

test('audio that fails after text could be read costs what could be read', async () => {
  await using room = await openJobRoom({ MAX_AUDIO_SECONDS: '100' });
  const account = await room.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(room, account, { seconds: 130 });
  await room.startWorker(engine);
  (await engine.nextCall()).say('words');
  const readSeconds = await readPiece(room, account, id);

  (await engine.nextCall()).say('words');
  const job = await room.ended(account, id);

  assert.equal(job.error.type, 'unprocessable_audio');
  assert.ok(job.cost >= credits(readSeconds) && job.cost <= credits(60), `${job.cost} for ${readSeconds} s`);
  assert.deepEqual(await balanceOf(room, account), { amount: 10 - job.cost, held: 0 });
});

test('jobs of one account that compete for its last credits spend no more than there is', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 200 * CREDITS_PER_SECOND });
  const ids = [];
  for (let i = 0; i < 4; i++) ids.push(await submit(room, account));
  await room.startWorker(openFakeEngine({ slots: 3, says: 'words' }), { concurrency: 4 });

  const jobs = await Promise.all(ids.map((id) => room.ended(account, id)));

  const completed = jobs.filter(({ status }) => status === 'completed');
  const failed = jobs.filter(({ error }) => error?.type === 'insufficient_balance');
  assert.ok(completed.length <= 2 && completed.length + failed.length === 4, `${completed.length} completed`);
  const spent = jobs.reduce((sum, { cost }) => sum + cost, 0);
  const { amount, held } = await balanceOf(room, account);
  assert.ok(amount >= 0 && held === 0);
  assert.ok(Math.abs(amount + spent - 200 * CREDITS_PER_SECOND) < 1e-5, `${amount} left, ${spent} spent`);
});

test('a hold that grew stays with the job: the next worker holds it neither again nor too little', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  await submit(room, account);
  const units = costUnits(30_000, RATE);
  const died = (await claimNextJob(room.db, 60_000))!;

  assert.deepEqual(await growHold(room.db, died, units), { kind: 'held', heldUnits: units });
  // The answer was lost: the same worker asks again.
  assert.deepEqual(await growHold(room.db, died, units), { kind: 'held', heldUnits: units });
  await room.endLeases();
  const next = (await claimNextJob(room.db, 60_000))!;
  assert.deepEqual(await growHold(room.db, next, units), { kind: 'held', heldUnits: units });

  assert.equal(next.heldUnits, units);
  assert.deepEqual(await growHold(room.db, died, 2 * units), { kind: 'lost' });
  assert.deepEqual(await balanceOf(room, account), { amount: 9, held: 1 });
  assert.deepEqual(await entries(room), ['credit', 'hold', 'hold']);
});

test('a job whose length the probe knew costs the database no statement more', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const id = await submit(room, account, { claimedSeconds: 75 });
  const { transaction } = room.db;
  let transactions = 0;
  room.db.transaction = (work) => {
    transactions++;
    return transaction(work);
  };

  await room.startWorker(openFakeEngine({ says: 'words' }));
  await room.ended(account, id);

  assert.equal(transactions, 1);
  assert.deepEqual(await entries(room), ['credit', 'hold', 'capture']);
});

test('a hold waits for a database that is away, and the job goes on', async () => {
  await using room = await openJobRoom();
  const account = await room.account({ credits: 10 });
  const id = await submit(room, account);
  const { transaction } = room.db;
  let tries = 0;
  room.db.transaction = async (work) => {
    if (++tries > 1) return await transaction(work);
    await transaction(work);
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  };

  await room.startWorker(openFakeEngine({ says: 'words' }));
  const job = await until('the end', async () => {
    const shown = await room.job(account, id);
    return shown.completed_at !== null && shown;
  });

  assert.deepEqual([job.status, job.cost], ['completed', credits(75)]);
  assert.deepEqual(await entries(room), ['credit', 'hold', 'hold', 'hold', 'hold', 'capture']);
});
