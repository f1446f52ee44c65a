import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { channelsWav } from '../../../test/fixtures/audio/test-audio.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Pcm } from '../../engines/engine.ts';
import { costUnits, creditsFromUnits } from '../../rules/jobs/price.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;
type Part = { start: number; end: number; channel: number; index: number };

const RATE = 2;
const SAMPLE_RATE = 16_000;
const HZ = [440, 880, 1320];

const credits = (seconds: number) => creditsFromUnits(costUnits(Math.round(seconds * 1000), RATE));
const channelIn = (piece: Pcm): number => {
  const crossings = piece.subarray(0, SAMPLE_RATE).filter((sample, at) => at > 0 && sample > 0 && piece[at - 1]! <= 0);
  return HZ.findIndex((hertz) => Math.abs(crossings.length - hertz) < 10);
};

/** Each channel sounds at a pitch of its own. */
function audioOf(seconds: number, channels: number): Buffer {
  const tone = (hertz: number) =>
    Int16Array.from(
      { length: seconds * SAMPLE_RATE },
      (_, at) => 2000 * Math.sin((2 * Math.PI * hertz * at) / SAMPLE_RATE),
    );
  return channelsWav(HZ.slice(0, channels).map(tone));
}

async function submit(fixture: Fixture, account: Account, claimed: Buffer, decoded = claimed): Promise<string> {
  const before = await fixture.files();
  const { json } = await fixture.transcribe(account, claimed, { async: 'true', multichannel: 'true' });
  const [name] = (await fixture.files()).filter((file) => !before.includes(file));
  await writeFile(path.join(fixture.folder, name!), decoded);
  return json.id;
}

async function balanceOf(fixture: Fixture, account: Account) {
  const text = 'select amount, held from accounts where id = $1';
  const [row] = await fixture.db.rows<{ amount: number; held: number }>({ text, values: [account.id] });
  return { amount: creditsFromUnits(row!.amount), held: creditsFromUnits(row!.held) };
}

test('all channels are held from the start, where the probe knows them', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });

  await submit(fixture, account, audioOf(10, 3));

  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - credits(30), held: credits(30) });
});

test('the hold grows before the engine is given more of any channel', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account, audioOf(1, 2), audioOf(65, 3));
  await fixture.startWorker(engine);
  let givenSeconds = 0;

  for (let piece = 0; piece < 9; piece++) {
    const call = await engine.nextCall();
    givenSeconds += call.piece.length / SAMPLE_RATE;
    const { held } = await balanceOf(fixture, account);
    assert.ok(held >= credits(givenSeconds) - 1e-6, `${held} credits are held for ${givenSeconds} s`);
    call.say('words');
  }

  const job = await fixture.ended(account, id);
  assert.deepEqual([job.status, job.cost, job.audio.duration_seconds], ['completed', credits(3 * 65), 65]);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - credits(3 * 65), held: 0 });
});

test('a balance that does not cover all channels ends the job where it ends, and what was transcribed is charged', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: credits(100) });
  const engine = openFakeEngine({ slots: 4 });
  const id = await submit(fixture, account, audioOf(1, 2), audioOf(75, 2));
  await fixture.startWorker(engine);
  const given: number[] = [];

  for (let piece = 0; piece < 3; piece++) {
    const call = await engine.nextCall();
    given.push(call.piece.length / SAMPLE_RATE);
    call.say('words');
  }
  const job = await fixture.ended(account, id);

  const givenSeconds = given.reduce((sum, seconds) => sum + seconds, 0);
  assert.deepEqual([job.status, job.error.type, engine.count()], ['failed', 'insufficient_balance', 3]);
  assert.deepEqual([job.cost, givenSeconds <= 100], [credits(givenSeconds), true]);
  assert.ok(job.audio.duration_seconds < 75, `${job.audio.duration_seconds}`);
  assert.equal((await balanceOf(fixture, account)).held, 0);
});

test('segments are streamed in the order of the transcript, with their channels, while the job runs', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine({ slots: 2 });
  const id = await submit(fixture, account, audioOf(100, 3));
  const streamed: Part[] = [];
  const progress: number[] = [];
  const watching = (async () => {
    for await (const { event, data } of fixture.watch(account, id)) {
      if (event === 'segment') streamed.push(data);
      if (event === 'progress') progress.push(data.progress);
    }
  })();
  await fixture.startWorker(engine);

  for (let piece = 0; piece < 12; piece++) {
    const call = await engine.nextCall();
    const channel = channelIn(call.piece);
    const seconds = call.piece.length / SAMPLE_RATE;
    // Channels whose segments lie between each other.
    const segments = Array.from({ length: 4 }, (_, i) => {
      const startSeconds = Math.min(seconds, i * 7 + channel);
      const part = {
        text: `${channel}`,
        startSeconds,
        endSeconds: Math.min(seconds, startSeconds + 5),
        confidence: null,
      };
      return { ...part, words: [part] };
    });
    call.answer({ language: 'en', segments });
  }
  await watching;

  const job = await fixture.job(account, id);
  assert.equal(job.status, 'completed');
  assert.deepEqual(
    streamed.map(({ index: _, ...segment }) => segment),
    job.segments,
  );
  assert.deepEqual(
    streamed.map(({ index }) => index),
    streamed.map((_, i) => i),
  );
  assert.deepEqual(
    job.segments.map(({ channel }: Part) => channel),
    job.segments.map(({ text }: { text: string }) => Number(text)),
  );
  const starts = job.segments.map(({ start }: Part) => start);
  assert.deepEqual(
    starts,
    starts.toSorted((a: number, b: number) => a - b),
  );
  assert.equal(starts.length, 48);
  assert.deepEqual(
    progress,
    progress.toSorted((a, b) => a - b),
  );
});

test('a canceled job is charged for the pieces of all channels that were transcribed', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const engine = openFakeEngine();
  const id = await submit(fixture, account, audioOf(70, 2));
  await fixture.startWorker(engine);
  let transcribedSeconds = 0;
  for (let piece = 0; piece < 3; piece++) {
    const call = await engine.nextCall();
    transcribedSeconds += call.piece.length / SAMPLE_RATE;
    call.say('words');
  }
  await engine.nextCall();
  const isStored = async () => (await fixture.db.rows({ text: 'select 1 from job_pieces' })).length === 3;
  await until('three stored pieces', isStored);

  const { json } = await fixture.cancel(account, id);

  assert.deepEqual([json.status, json.cost], ['canceled', credits(transcribedSeconds)]);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - json.cost, held: 0 });
});

test('a stopped job goes on with the pieces of all channels and is charged once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  const [first, second] = [openFakeEngine(), openFakeEngine({ says: 'again' })];
  const id = await submit(fixture, account, audioOf(70, 2));
  const worker = await fixture.startWorker(first);
  (await first.nextCall()).say('first');
  await first.nextCall();
  await worker.stop();

  await fixture.startWorker(second);
  const job = await fixture.ended(account, id);

  assert.deepEqual([job.status, second.count(), job.cost], ['completed', 5, credits(140)]);
  const texts: string[] = job.segments.map(({ text }: { text: string }) => text);
  assert.deepEqual(texts.sort(), ['again', 'again', 'again', 'again', 'again', 'first']);
  assert.deepEqual(await balanceOf(fixture, account), { amount: 10 - credits(140), held: 0 });
});
