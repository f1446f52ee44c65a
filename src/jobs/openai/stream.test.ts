import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { openJobNotifications } from '../stream/job-notifications.ts';
import { openTextStream } from './stream.ts';

type Event = { type?: string; delta?: string; text?: string; usage?: object; error?: Record<string, unknown> };

const fixture = await openJobFixture();
const account = await fixture.account();
test.after(() => fixture[Symbol.asyncDispose]());

const deltasOf = (events: Event[]) => events.flatMap(({ delta }) => (delta === undefined ? [] : [delta]));
const jobIdOf = (headers: Record<string, string> | undefined) => headers!['x-job-id']!;

test('each piece is a delta as soon as it is transcribed, and the deltas add up to the text', async () => {
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine, { concurrency: 1 });
  const { answer, events } = await fixture.streamText(account, wavFile(100));

  const deltas: Event[] = [];
  for (const text of [' one  line\n', '', 'two']) (await engine.nextCall()).say(text);
  deltas.push((await events.next()).value, (await events.next()).value);
  (await engine.nextCall()).say('three');
  const rest = await Array.fromAsync(events);
  const job = await fixture.job(account, jobIdOf(answer.headers));
  await worker.stop();

  assert.equal(answer.contentType, 'text/event-stream; charset=utf-8');
  assert.equal(answer.headers!['location'], `/v1/jobs/${job.id}`);
  assert.deepEqual(deltas, [
    { type: 'transcript.text.delta', delta: 'one line' },
    { type: 'transcript.text.delta', delta: ' two' },
  ]);
  assert.deepEqual(rest, [
    { type: 'transcript.text.delta', delta: ' three' },
    { type: 'transcript.text.done', text: 'one line two three', usage: { type: 'duration', seconds: 100 } },
  ]);
  assert.equal(job.text, 'one line two three');
});

test('a stream of silence has no delta', async () => {
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine);
  const { events } = await fixture.streamText(account, wavFile(0.4));

  (await engine.nextCall()).answer({ segments: [], language: null });
  const all = await Array.fromAsync(events);
  await worker.stop();

  assert.deepEqual(all, [{ type: 'transcript.text.done', text: '', usage: { type: 'duration', seconds: 1 } }]);
});

/** The next worker begins anew, as after a kill, or with another model. */
async function stopWithoutPieces(worker: { stop(): Promise<void> }): Promise<void> {
  await worker.stop();
  await fixture.db.run({ text: 'delete from job_pieces where lease < 0' });
}

/** Streams a job of four pieces, of which two are made before it is started again with these texts. */
async function restart(texts: string[]): Promise<{ all: Event[]; id: string }> {
  const [first, second] = [openFakeEngine(), openFakeEngine()];
  const before = await fixture.startWorker(first, { concurrency: 1 });
  const { answer, events } = await fixture.streamText(account, wavFile(100));
  const all: Event[] = [];
  for (const text of ['begun', 'and']) {
    (await first.nextCall()).say(text);
    all.push((await events.next()).value);
  }
  await stopWithoutPieces(before);
  const worker = await fixture.startWorker(second, { concurrency: 1 });
  for (const text of texts.slice(0, 3)) (await second.nextCall()).say(text);
  all.push((await events.next()).value);
  (await second.nextCall()).say(texts[3]!);
  all.push(...(await Array.fromAsync(events)));
  await fixture.ended(account, jobIdOf(answer.headers));
  await worker.stop();
  return { all, id: jobIdOf(answer.headers) };
}

test('a job that is started again sends no part of its text twice', async () => {
  const { all } = await restart(['begun', 'and', 'more', 'ended']);

  assert.deepEqual(deltasOf(all), ['begun', ' and', ' more', ' ended']);
  assert.equal(all.at(-1)!.text, 'begun and more ended');
});

test('a job that is started again and cut elsewhere goes on where its text had come', async () => {
  const { all } = await restart(['begun and', 'now', 'more', 'ended']);

  assert.equal(deltasOf(all).join(''), 'begun and now more ended');
  assert.equal(all.at(-1)!.text, 'begun and now more ended');
});

test('a stream whose text changes by a restart ends with an error that names the job', async () => {
  const { all, id } = await restart(['anew', 'and', 'more', 'ended']);

  assert.deepEqual(deltasOf(all), ['begun', ' and']);
  assert.deepEqual(all.at(-1), {
    error: {
      message: `The text was made again, and differs from what was sent. Read the job at /v1/jobs/${id}.`,
      code: 409,
      type: 'conflict',
      docs: '/docs/errors#conflict',
    },
    job_id: id,
    request_id: 'req_test',
  });
});

test('a text that is shorter after a restart than what was sent is an error too', async () => {
  const [first, second] = [openFakeEngine(), openFakeEngine()];
  const before = await fixture.startWorker(first, { concurrency: 1 });
  const { answer, events } = await fixture.streamText(account, wavFile(50));
  (await first.nextCall()).say('begun');
  const delta = (await events.next()).value;
  await stopWithoutPieces(before);
  const worker = await fixture.startWorker(second, { concurrency: 1 });
  for (const text of ['be', '']) (await second.nextCall()).say(text);
  const rest = await Array.fromAsync(events);
  await fixture.ended(account, jobIdOf(answer.headers));
  await worker.stop();

  assert.deepEqual([delta.delta, rest.length, rest[0]!.error!['type']], ['begun', 1, 'conflict']);
});

test('a job that fails, is canceled or is erased ends its stream with the error', async () => {
  const engine = openFakeEngine();
  const errors: unknown[] = [];
  const errorOf = async (events: AsyncGenerator<Event>) => (await Array.fromAsync(events)).at(-1)!.error!['type'];

  const waiting = await fixture.streamText(account, wavFile(1));
  await fixture.cancel(account, jobIdOf(waiting.answer.headers));
  errors.push(await errorOf(waiting.events));
  const erased = await fixture.streamText(account, wavFile(1));
  await fixture.erase(account, jobIdOf(erased.answer.headers));
  errors.push(await errorOf(erased.events));
  const worker = await fixture.startWorker(engine);
  const failing = await fixture.streamText(account, wavFile(1));
  (await engine.nextCall()).fail(new Error('a bug'));
  errors.push(await errorOf(failing.events));
  await worker.stop();

  assert.deepEqual(errors, ['conflict', 'not_found', 'internal']);
});

test('the job goes on when its caller has hung up', async () => {
  const engine = openFakeEngine();
  const worker = await fixture.startWorker(engine, { concurrency: 1 });
  const hangUp = new AbortController();
  const { answer, events } = await fixture.streamText(account, wavFile(50), { signal: hangUp.signal });
  (await engine.nextCall()).say('one');
  await events.next();

  hangUp.abort();
  await Array.fromAsync(events).catch(() => undefined);
  (await engine.nextCall()).say('two');
  const job = await fixture.ended(account, jobIdOf(answer.headers));
  await worker.stop();

  assert.deepEqual([job.status, job.text], ['completed', 'one two']);
});

test('an account has at most 100 streams: one more is answered 429, and neither a job nor a file is left', async () => {
  const other = await fixture.account();
  const hangUp = new AbortController();
  const { json: job } = await fixture.transcribe(other, wavFile(1), { async: 'true' });
  const streams = Array.from({ length: 100 }, () => fixture.watch(other, job.id, hangUp.signal));
  await Promise.all(streams.map((stream) => stream.next()));
  const before = await fixture.files();

  const refused = await fixture.streamText(other, wavFile(1)).catch((error: unknown) => error);
  const after = await fixture.files();
  const { json: list } = await fixture.get(other, '/v1/jobs');
  hangUp.abort();
  await Promise.allSettled(streams.map((stream) => stream.return(undefined)));

  assert.equal((refused as { type?: string }).type, 'rate_limited');
  assert.deepEqual(after, before);
  assert.equal(list.data.length, 1);
});

test('requests that are refused when their job is made use up no stream', async () => {
  const poor = await fixture.account({ credits: 0.001 });

  for (let sent = 0; sent < 101; sent += 1) {
    const refused = await fixture.streamText(poor, wavFile(1)).catch((error: unknown) => error);
    assert.equal((refused as { type?: string }).type, 'insufficient_balance');
  }
});

test('the end of the service ends a stream with an error', async () => {
  const notifications = await openJobNotifications(fixture);
  const { json } = await fixture.transcribe(account, wavFile(1), { async: 'true' });
  const key = { shard: account.shard, accountId: account.id, id: json.id };
  const call = { signal: new AbortController().signal, actor: { requestId: 'req_test' } };
  using early = openTextStream({ ...fixture, notifications }, key, call as never, 'json');
  const { stream } = early.answer(json);

  const frames = Array.fromAsync(stream!);
  await notifications.close();
  const text = (await frames).join('');

  assert.match(text, /^: job_\w+\n\ndata: \{"error":\{"message":"The stream ends, and the job goes on\./);
});
