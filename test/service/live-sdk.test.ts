import assert from 'node:assert/strict';
import test from 'node:test';
import {
  JobFailedError,
  type LiveConnectionState,
  type LiveSegment,
  type LiveSession,
  type LiveUpdate,
  Verbatim,
} from '../../sdk/src/index.ts';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { openCuttingProxy } from '../fixtures/servers/cutting-proxy.ts';
import { openService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const SILENCE = new Int16Array(16_000);
const WORDS = ['hello world', 'good morning', 'again', 'hello', 'the end'];
const METADATA = '{"call":12345678901234567890}';

/** Speech with a second of silence after each of the texts. */
function speech(texts: string[]): Buffer {
  return Buffer.concat(texts.flatMap((text) => [bytesOf(toneSpeech(text)), bytesOf(SILENCE)]));
}

function bytesOf({ buffer, byteOffset, byteLength }: Int16Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function openEnvironment(credits: number | null = null) {
  const service = await openService(ENGINES);
  const { key } = await service.account({ credits });
  const proxy = await openCuttingProxy(service.baseUrl);
  return {
    service,
    proxy,
    key,
    client: new Verbatim({ apiKey: key, baseUrl: proxy.url }),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

/** Writes the audio in pieces of 100 ms, each once there is space. */
async function play(session: LiveSession, audio: Buffer, beforeEach: (at: number) => Promise<void> = async () => {}) {
  for (let at = 0; at < audio.length; at += 3_200) {
    await beforeEach(at);
    await session.write(audio.subarray(at, at + 3_200));
  }
}

async function collect(session: LiveSession, updates: LiveUpdate[] = []) {
  for await (const update of session) updates.push(update);
  return updates;
}

const segmentsOf = (updates: LiveUpdate[]) => updates.filter((each): each is LiveSegment => each.type === 'segment');

test('the client sends audio and gets the text while it is spoken, and the job at the end', async () => {
  await using environment = await openEnvironment();
  const session = await environment.client.live({ metadataText: METADATA, timestamps: 'word' });
  const seen: LiveUpdate[] = [];
  const collected = collect(session, seen);

  await play(session, speech(['hello world']));
  await session.write(toneSpeech('good'));
  await until('words of the open segment', () => seen.some((each) => each.type === 'partial' && each.index === 1));
  await session.finalize();
  const job = await session.finish();

  const updates = await collected;
  const segments = segmentsOf(updates);
  assert.deepEqual(
    segments.map(({ seq, text, reason, words }) => [seq, text, reason, words?.length]),
    [
      [1, 'hello world', 'endpoint', 2],
      [2, 'good', 'finalize', 1],
    ],
  );
  assert.equal(updates.filter(({ type }) => type === 'speech_started').length, 2);
  assert.deepEqual([job.id, job.text, job.metadataText], [session.id, 'hello world good', METADATA]);
  assert.equal(session.unacknowledgedBytes, 0);
});

test('cuts of the connection lose no word and repeat none', async () => {
  await using environment = await openEnvironment();
  const { client, proxy } = environment;
  proxy.cutAfter(70_000);
  const states: LiveConnectionState[] = [];
  const session = await client.live({}, { onConnection: (state) => void states.push(state) });
  const collected = collect(session);
  const audio = speech(WORDS);

  await play(session, audio);
  await until('a few cuts', () => states.filter(({ state }) => state === 'lost').length >= 3);
  proxy.cutAfter(null);
  const job = await session.finish();

  assert.equal(job.text, WORDS.join(' '));
  assert.deepEqual(
    segmentsOf(await collected).map(({ seq, text }) => `${seq} ${text}`),
    WORDS.map((text, index) => `${index + 1} ${text}`),
  );
  assert.equal(job.audio.duration_seconds, audio.length / 32_000);
});

test('audio that is written while the service is away is sent when it is back', async () => {
  await using environment = await openEnvironment();
  const { client, proxy } = environment;
  const session = await client.live();
  const collected = collect(session);
  await play(session, speech(['hello world']));
  proxy.away(true);
  await play(session, speech(['good morning']));
  const finished = session.finish();
  assert.ok(session.unacknowledgedBytes > 0);

  proxy.away(false);

  assert.equal((await finished).text, 'hello world good morning');
  assert.equal(segmentsOf(await collected).length, 2);
});

test('a session that ended while the client was away ends with its job and all of its segments', async () => {
  await using environment = await openEnvironment();
  const { client, proxy } = environment;
  const session = await client.live({ resume_seconds: 0 });
  const collected = collect(session);
  await play(session, speech(['hello world', 'good']));
  await until('the audio to be durable', () => session.unacknowledgedBytes === 0);
  proxy.away(true);
  const direct = new Verbatim({ apiKey: environment.key, baseUrl: environment.service.baseUrl });
  await direct.jobs.wait(session.id);

  proxy.away(false);
  const job = await session.finish();

  assert.deepEqual([job.text, job.warnings.map(({ code }) => code)], ['hello world good', ['connection_lost']]);
  assert.deepEqual(
    segmentsOf(await collected).map(({ text }) => text),
    ['hello world', 'good'],
  );
});

test('a session can be canceled, and one whose balance is used up fails with its job', async () => {
  await using environment = await openEnvironment(2.1);
  const session = await environment.client.live({ plan: 'pro' });
  await session.write(toneSpeech('hello'));
  assert.equal((await session.cancel()).status, 'canceled');

  const poor = await environment.client.live({ plan: 'pro', sample_rate: 8_000, encoding: 'mulaw' });
  const collected = collect(poor);
  await poor.write(new Uint8Array(8_000 * 70).fill(0xff));

  await assert.rejects(
    poor.finish(),
    (error) => error instanceof JobFailedError && error.job.error!.type === 'insufficient_balance',
  );
  assert.deepEqual(
    (await collected).map((update) => (update.type === 'warning' ? update.code : update.type)),
    ['balance_low', 'audio_lost'],
  );
});

test('all audio of a file that is sent faster than it plays is taken before the end', async () => {
  await using environment = await openEnvironment(20);
  const session = await environment.client.live({ sample_rate: 8_000, encoding: 'mulaw' });

  for (let second = 0; second < 100; second++) void session.write(new Uint8Array(8_000).fill(0xff));
  const job = await session.finish();

  assert.equal(job.audio.duration_seconds, 100);
});
