import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { setImmediate as nextEventLoopTurn } from 'node:timers/promises';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { AudioError } from '../../audio/audio-error.ts';
import { EngineError } from '../../engines/engine.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;

const jobCount = async (fixture: Fixture) => (await fixture.db.rows({ text: 'select 1 from jobs' })).length;

test('an asynchronous request is answered 202 with the job and its location', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });

  const answer = await fixture.transcribe(account, wavFile(1), { async: 'true', metadata: '{"a":1.0}' });

  assert.equal(answer.status, 202);
  assert.equal(answer.headers['location'], `/v1/jobs/${answer.json.id}`);
  assert.ok(answer.text.includes('"metadata":{"a":1.0}'));
  assert.deepEqual(
    { ...answer.json, id: null, created_at: null },
    {
      id: null,
      status: 'queued',
      waiting_for: null,
      plan: 'pro',
      model: null,
      language: null,
      translated_to: null,
      audio: {
        filename: 'a.wav',
        format: 'wav',
        duration_seconds: 1,
        size_bytes: 32_044,
        source: null,
        channels: 1,
        tracks: [{ index: 0, language: null, title: null, codec: 'pcm_s16le', channels: 1, default: true }],
      },
      title: null,
      tags: [],
      metadata: { a: 1 },
      options: {},
      text: null,
      segments: null,
      speakers: null,
      warnings: [],
      error: null,
      cost: null,
      progress: 0,
      created_at: null,
      started_at: null,
      completed_at: null,
      expires_at: null,
    },
  );
  const [balance] = await fixture.db.rows<{ amount: number; held: number }>({
    text: 'select amount, held from accounts',
  });
  assert.deepEqual(balance, { amount: 600e6 - 2e6, held: 2e6 });
  assert.equal((await fixture.files()).length, 1);
});

test('a request is answered once its job and its audio are durable', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { receive } = fixture.storage;
  const synced = Promise.withResolvers<void>();
  fixture.storage.receive = async (...args) => ({ ...(await receive(...args)), durable: synced.promise });
  let isAnswered = false;

  const answering = fixture.transcribe(account, wavFile(1), { async: 'true' }).finally(() => {
    isAnswered = true;
  });
  await until('the job to be inserted', async () => (await jobCount(fixture)) === 1);
  await jobCount(fixture);
  await nextEventLoopTurn();

  assert.equal(isAnswered, false);
  synced.resolve();
  assert.equal((await answering).status, 202);
});

test('a request is refused when its audio cannot be made durable', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { receive } = fixture.storage;
  const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  fixture.storage.receive = async (...args) => ({ ...(await receive(...args)), durable: Promise.reject(full) });

  const answer = await fixture.transcribe(account, wavFile(1), { async: 'true' });

  assert.deepEqual([answer.status, answer.json.error.type], [503, 'unavailable']);
});

test('a synchronous request is answered with the job once it has ended', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello world' }));

  const answer = await fixture.transcribe(account, wavFile(1));

  assert.equal(answer.status, 200);
  assert.deepEqual([answer.json.status, answer.json.text], ['completed', 'hello world']);
});

test('audio without its end is transcribed with a warning, and without its index it is refused', async () => {
  await using fixture = await openJobFixture();
  await using folder = await openTestFolder();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const wav = wavFile(4);
  const m4a = await readFile(await folder.encode('a.m4a', wav));

  const [whole, half, lacking] = [
    await fixture.transcribe(account, wav),
    await fixture.transcribe(account, wav.subarray(0, wav.length / 2)),
    await fixture.transcribe(account, m4a.subarray(0, m4a.length / 2)),
  ];

  assert.deepEqual([whole.status, whole.json.warnings], [200, []]);
  assert.deepEqual([half.status, half.json.text], [200, 'hello']);
  assert.deepEqual(
    half.json.warnings.map(({ code }: { code: string }) => code),
    ['audio_truncated'],
  );
  assert.deepEqual([lacking.status, lacking.json.error.param], [422, 'file']);
  assert.equal(lacking.json.error.message, 'The file is incomplete: its end is missing.');
});

test('a recording behind the first is transcribed too, and what cannot be read is a warning with its bytes', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const rest = Buffer.from(`RIFF0000WAVE${'no chunk '.repeat(600)}`);

  const [two, three] = [
    await fixture.transcribe(account, Buffer.concat([wavFile(1), wavFile(2)])),
    await fixture.transcribe(account, Buffer.concat([wavFile(1), wavFile(2), rest])),
  ];

  assert.deepEqual([two.status, two.json.audio.duration_seconds, two.json.warnings], [200, 3, []]);
  assert.equal(three.json.audio.duration_seconds, 3);
  assert.deepEqual(
    three.json.warnings.map(({ code, bytes }: { code: string; bytes: number }) => [code, bytes]),
    [['audio_after_end', rest.length]],
  );
});

const FORMATS = [
  { format: 'text', type: 'text/plain; charset=utf-8', body: 'hello world\n' },
  {
    format: 'srt',
    type: 'application/x-subrip; charset=utf-8',
    body: '1\n00:00:00,000 --> 00:00:01,000\nhello world\n',
  },
  { format: 'vtt', type: 'text/vtt; charset=utf-8', body: 'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nhello world\n' },
];
for (const { format, type, body } of FORMATS) {
  test(`the transcript is available as ${format}, in the answer and later`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    await fixture.startWorker(openFakeEngine({ says: 'hello world' }));

    const answer = await fixture.transcribe(account, wavFile(1), { response_format: format });
    const id = answer.headers['location']!.split('/').at(-1)!;
    const later = await fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query: { format } });

    assert.deepEqual([answer.status, answer.contentType, answer.text], [200, type, body]);
    assert.deepEqual([later.status, later.contentType, later.text], [200, type, body]);
  });
}

test('captions are shaped as asked, in the answer and later', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello wonderful people' }));
  const options = { max_line_length: '16', max_lines: '2' };
  const captions = '1\n00:00:00,000 --> 00:00:01,000\nhello wonderful\npeople\n';

  const answer = await fixture.transcribe(account, wavFile(1), { response_format: 'srt', ...options });
  const id = answer.headers['location']!.split('/').at(-1)!;
  const ask = (query: Record<string, unknown>) =>
    fixture.get(account, '/v1/jobs/:id/transcript', { params: { id }, query });
  const later = await ask({ format: 'srt', max_line_length: 16, max_duration: 7 });
  const refused = await ask({ format: 'json', max_lines: 2 });

  assert.deepEqual([answer.status, answer.text, later.status, later.text], [200, captions, 200, captions]);
  assert.deepEqual([refused.status, refused.json.error.param], [400, 'max_lines']);
});

const FAILED = [
  { cause: new AudioError('No sound in it.'), status: 422, type: 'unprocessable_audio', param: 'file' },
  { cause: new EngineError('engine_error', 'It broke.'), status: 500, type: 'internal', param: undefined },
  { cause: new EngineError('engine_timeout', 'It hangs.'), status: 500, type: 'internal', param: undefined },
];
for (const { cause, status, type, param } of FAILED) {
  test(`a synchronous job that fails with ${cause.message} is answered ${status} with its id`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    const engine = openFakeEngine();
    await fixture.startWorker(engine);

    const answering = fixture.transcribe(account, wavFile(1));
    (await engine.nextCall()).fail(cause);
    const answer = await answering;

    const { error } = answer.json;
    assert.deepEqual([answer.status, error.type, error.message, error.param], [status, type, cause.message, param]);
    assert.equal((await fixture.job(account, answer.json.job_id)).status, 'failed');
  });
}

test('after the longest wait a synchronous request is answered like an asynchronous one', async () => {
  await using fixture = await openJobFixture({ SYNC_WAIT_SECONDS: '0' });
  const account = await fixture.account();

  const answer = await fixture.transcribe(account, wavFile(1));

  assert.deepEqual([answer.status, answer.json.status], [202, 'queued']);
  assert.equal(answer.headers['location'], `/v1/jobs/${answer.json.id}`);
});

test('a job continues when its client disconnects', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);
  const caller = new AbortController();
  const answering = fixture.transcribe(account, wavFile(1), {}, caller.signal);
  const call = await engine.nextCall();

  caller.abort();
  const { json } = await answering;
  call.say('still here');

  assert.equal((await fixture.ended(account, json.id)).text, 'still here');
});

type Refusal = { title: string; audio: Buffer; status: number; param?: string; fields?: Record<string, string> };
const REFUSALS: Refusal[] = [
  { title: 'a file that is not media', audio: Buffer.from('just text, no sound'), status: 422, param: 'file' },
  { title: 'a WAV file without samples', audio: wavFile(0), status: 422, param: 'file' },
  { title: 'audio over the limit', audio: wavFile(3), status: 422, param: 'file' },
  { title: 'audio that the balance does not cover', audio: wavFile(2), status: 402 },
  { title: 'a wrong field', audio: wavFile(1), status: 400, param: 'async', fields: { async: 'maybe' } },
  {
    title: 'a plan above that of the account',
    audio: wavFile(1),
    status: 403,
    param: 'plan',
    fields: { plan: 'pro' },
  },
  {
    title: 'metadata over 4,096 bytes',
    audio: wavFile(1),
    status: 413,
    param: 'metadata',
    fields: { metadata: `"${'é'.repeat(2047)}x"` },
  },
];
for (const { title, audio, status, param, fields = {} } of REFUSALS) {
  test(`${title} is rejected with ${status} and leaves no file, job or hold`, async () => {
    await using fixture = await openJobFixture({ MAX_AUDIO_SECONDS: '2' });
    const account = await fixture.account({ plan: 'lite', credits: 0.02 });

    const answer = await fixture.transcribe(account, audio, { async: 'true', ...fields });

    assert.deepEqual([answer.status, answer.json.error.param], [status, param], answer.text);
    assert.deepEqual([await fixture.files(), await jobCount(fixture)], [[], 0]);
    const [{ held } = { held: -1 }] = await fixture.db.rows<{ held: number }>({ text: 'select held from accounts' });
    assert.equal(held, 0);
  });
}

test('metadata of exactly 4,096 bytes is accepted', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();

  const answer = await fixture.transcribe(account, wavFile(1), { async: 'true', metadata: `"${'é'.repeat(2047)}"` });

  assert.equal(answer.status, 202, answer.text);
});

test('an insufficient_balance error contains the needed and the available credits', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 0.01 });

  const answer = await fixture.transcribe(account, wavFile(3), { async: 'true' });

  assert.equal(
    answer.json.error.message,
    'The audio costs 0.1 credits and the balance holds 0.01. Add credits, or send less audio.',
  );
  assert.deepEqual([answer.json.needed_credits, answer.json.available_credits], [0.1, 0.01]);
});

test('the needed credits are what the audio needs, also where its cost has more decimals than are shown', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 0.033333 });

  const answer = await fixture.transcribe(account, wavFile(1), { async: 'true' });

  assert.equal(answer.status, 402, answer.text);
  assert.deepEqual([answer.json.needed_credits, answer.json.available_credits], [0.033334, 0.033333]);
});

test('a full queue rejects uploads before their body is read', async () => {
  await using fixture = await openJobFixture({ MAX_QUEUED_JOBS: '1' });
  const account = await fixture.account();
  await fixture.db.run({
    text: `insert into job_queues (shard, account_id, waiting) values (5, 'acct_1', 2), (9, 'acct_2', 1)`,
  });

  const answer = await fixture.transcribe(account, wavFile(1), { async: 'true' });

  assert.equal(answer.status, 503);
  assert.ok(Number(answer.headers['retry-after']) >= 1);
  assert.deepEqual(await fixture.files(), []);
});

test('a database without space for the job leaves no audio behind', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.db.run({
    text: `create function fill() returns trigger language plpgsql as $$ begin raise exception using errcode = 'disk_full'; end $$`,
  });
  await fixture.db.run({ text: 'create trigger fill before insert on jobs for each row execute function fill()' });

  await assert.rejects(fixture.transcribe(account, wavFile(1), { async: 'true' }), { code: '53100' });

  assert.deepEqual(await fixture.files(), []);
});

test('after a lost connection the audio is left to the sweep, since the job may have been inserted', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.db.run({
    text: `create function cut() returns trigger language plpgsql as $$ begin perform pg_terminate_backend(pg_backend_pid()); return new; end $$`,
  });
  await fixture.db.run({ text: 'create trigger cut before insert on jobs for each row execute function cut()' });

  await assert.rejects(fixture.transcribe(account, wavFile(1), { async: 'true' }));

  assert.equal((await fixture.files()).length, 1);
});
