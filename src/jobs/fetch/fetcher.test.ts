import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import test from 'node:test';
import { channelsWav } from '../../../test/fixtures/audio/test-audio.ts';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { type Handler, openAudioServer, serveFile } from '../../../test/fixtures/servers/audio-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Account } from '../../accounts/account.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { correctQueueCounts } from '../queue/queue-count.ts';
import { findWrongCounts } from '../queue/queue-count-store.ts';
import { returnFetchesOf } from './fetch-store.ts';

const WAV = wavFile(1);
const SECRET_URL = '/calls/a%20b.wav?X-Signature=s3cr3t';

/** The job endpoints, a server of files that may be fetched from, and functions for both. */
async function openEnvironment(handler: Handler, env: Record<string, string> = {}) {
  const server = await openAudioServer(handler);
  const fixture = await openJobFixture({ AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${server.port}`, ...env });
  const send = async (account: Account, body: object = {}) =>
    await fixture.post(
      account,
      '/v1/transcribe',
      jsonUpload({ audio_url: server.origin + SECRET_URL, async: true, ...body }),
    );
  return {
    server,
    fixture,
    send,
    fetches: () => fixture.db.rows<Record<string, unknown>>({ text: 'select * from audio_fetches' }),
    /** Makes all waiting fetches due, as after their delay. */
    dueNow: () =>
      fixture.db.run({
        text: `with clock as (select clock_timestamp() as moment)
          update audio_fetches set next_at = (select moment from clock) where holder is null`,
      }),
    balance: async (account: Account) => {
      const [row] = await fixture.db.rows<{ amount: number; held: number }>({
        text: 'select amount, held from accounts where id = $1',
        values: [account.id],
      });
      return row!;
    },
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await fixture[Symbol.asyncDispose]();
    },
  };
}

type Environment = Awaited<ReturnType<typeof openEnvironment>>;

/** Accepts a job, and lets it be fetched: resolves to the job at its end. */
async function runFailing(environment: Environment, body: object = {}, options = {}) {
  const { fixture, send } = environment;
  const account = await fixture.account(options);
  await fixture.startFetcher();
  const { json } = await send(account, body);
  return { account, job: await fixture.ended(account, json.id) };
}

test('a job with audio_url is queued at once, fetched, transcribed, and shows origin and path only', async () => {
  await using environment = await openEnvironment(serveFile(WAV, { 'content-type': 'audio/wav' }));
  const { fixture, send, server, balance } = environment;
  const account = await fixture.account({ credits: 10 });

  const accepted = await send(account, {
    audio_url_headers: { Authorization: 'Bearer t0ken' },
    metadata: '{"n":1.0}',
    timestamps: 'word',
  });

  const source = `${server.origin}/calls/a%20b.wav`;
  assert.equal(accepted.status, 202);
  assert.deepEqual(accepted.json.audio, {
    filename: 'a b.wav',
    format: null,
    duration_seconds: null,
    size_bytes: null,
    source,
    channels: null,
    tracks: [],
  });
  assert.deepEqual([accepted.json.status, accepted.json.queue_position], ['queued', undefined]);
  assert.ok(accepted.text.includes('"metadata":{"n":1.0}'));
  assert.deepEqual(await balance(account), { amount: 600e6, held: 0 });
  const [row] = await environment.fetches();
  assert.doesNotMatch(JSON.stringify(row) + String(row!['request']), /s3cr3t|t0ken|X-Signature/);

  await fixture.startFetcher();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const job = await fixture.ended(account, accepted.json.id);

  assert.deepEqual([job.status, job.text, job.cost], ['completed', 'hello', 0.033333]);
  assert.deepEqual(job.audio, {
    filename: 'a b.wav',
    format: 'wav',
    duration_seconds: 1,
    size_bytes: WAV.length,
    source,
    channels: 1,
    tracks: [{ index: 0, language: null, title: null, codec: 'pcm_s16le', channels: 1, default: true }],
  });
  assert.equal(server.requests[0]!.headers.authorization, 'Bearer t0ken');
  assert.equal(server.requests[0]!.path, SECRET_URL);
  assert.deepEqual(await environment.fetches(), []);
  assert.deepEqual(await balance(account), { amount: 600e6 - 2e6, held: 0 });
  const stored = await fixture.db.rows({
    text: 'select jobs::text from jobs union all select encode(body, $1) from events',
    values: ['escape'],
  });
  assert.doesNotMatch(JSON.stringify(stored), /s3cr3t|t0ken|X-Signature/);
});

test('the channels of fetched audio are held and charged, and a track that it does not have fails the job', async () => {
  const other = Int16Array.from({ length: 16_000 }, (_, at) => (at % 50) * 100);
  const stereo = channelsWav([other, other.toReversed()]);
  await using environment = await openEnvironment(serveFile(stereo));
  const { fixture, send, balance } = environment;
  const account = await fixture.account({ credits: 10 });
  await fixture.startFetcher();

  const { json: both } = await send(account, { multichannel: true, audio_track: 0 });
  const { json: none } = await send(account, { multichannel: true, audio_track: 'de' });
  const failed = await fixture.ended(account, none.id);
  await until('the hold', async () => (await balance(account)).held > 0);
  const { held } = await balance(account);
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const job = await fixture.ended(account, both.id);

  assert.deepEqual([failed.error.type, failed.cost], ['unprocessable_audio', 0]);
  assert.match(failed.error.message, /no audio track de\. Its audio tracks are: 0\./);
  assert.deepEqual([held, job.cost, job.audio.channels], [2 * 2e6, 0.066667, 2]);
  assert.deepEqual(
    job.segments.map(({ channel }: { channel: number }) => channel),
    [0, 1],
  );
  assert.deepEqual(await balance(account), { amount: 600e6 - 2 * 2e6, held: 0 });
});

test('a form without a file may carry audio_url and its headers', async () => {
  await using environment = await openEnvironment(serveFile(WAV));
  const { fixture, server } = environment;
  const account = await fixture.account();
  await fixture.startFetcher();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const form = new FormData();
  form.append('audio_url', `${server.origin}/a.wav`);
  form.append('audio_url_headers', '{"X-Own":"mine"}');
  const { headers, body } = new Response(form);
  const { Readable } = await import('node:stream');
  const stream = Readable.from(body as unknown as AsyncIterable<Uint8Array>, { objectMode: false });

  const answer = await fixture.post(account, '/v1/transcribe', {
    open: () => stream,
    contentType: headers.get('content-type')!,
    contentLength: null,
    rawQuery: null,
  });

  assert.deepEqual([answer.status, answer.json.text], [200, 'hello']);
  assert.equal(server.requests[0]!.headers['x-own'], 'mine');
});

type FailureCase = { what: string; handler: Handler; env?: Record<string, string>; error: object; requests: number };
const status =
  (code: number, headers: Record<string, string> = {}): Handler =>
  (_request, response) =>
    void response.writeHead(code, headers).end('no file');
const FAILURES: FailureCase[] = [
  {
    what: 'an answer of 403',
    handler: status(403),
    error: { type: 'audio_fetch_failed', reason: 'http_status', http_status: 403 },
    requests: 1,
  },
  {
    what: 'a redirect to the metadata address',
    handler: status(302, { location: 'https://169.254.169.254/latest/meta-data/' }),
    error: { type: 'audio_fetch_failed', reason: 'forbidden_address' },
    requests: 1,
  },
  {
    what: 'a circle of redirects',
    handler: status(302, { location: SECRET_URL }),
    error: { type: 'audio_fetch_failed', reason: 'redirect' },
    requests: 1,
  },
  {
    what: 'a file that is announced as too large',
    handler: (_request, response) => void response.writeHead(200, { 'content-length': 2_000_000 }).flushHeaders(),
    env: { MAX_UPLOAD_BYTES: '1000000' },
    error: { type: 'audio_fetch_failed', reason: 'too_large' },
    requests: 1,
  },
  {
    what: 'an endless file',
    handler: (_request, response) => pour(response),
    env: { MAX_UPLOAD_BYTES: '1000000' },
    error: { type: 'audio_fetch_failed', reason: 'too_large' },
    requests: 1,
  },
  {
    what: 'a page of text',
    handler: serveFile(Buffer.from('<html>Sign in</html>'), { 'content-type': 'text/html; charset=utf-8' }),
    error: { type: 'unprocessable_audio' },
    requests: 1,
  },
  {
    what: 'an empty file',
    handler: serveFile(Buffer.alloc(0)),
    error: { type: 'unprocessable_audio' },
    requests: 1,
  },
  {
    what: 'a compressed answer',
    handler: serveFile(WAV, { 'content-encoding': 'gzip' }),
    error: { type: 'unprocessable_audio' },
    requests: 1,
  },
  {
    what: 'audio over the limit of length',
    handler: serveFile(wavFile(3)),
    env: { MAX_AUDIO_SECONDS: '2' },
    error: { type: 'unprocessable_audio' },
    requests: 1,
  },
];
for (const { what, handler, env = {}, error, requests } of FAILURES) {
  test(`${what} fails the job, free of charge, and leaves nothing`, async () => {
    await using environment = await openEnvironment(handler, env);
    const { fixture, server, balance } = environment;

    const { account, job } = await runFailing(environment, {}, { credits: 1 });

    const { message, ...rest } = job.error;
    assert.deepEqual([job.status, rest, job.cost], ['failed', error, 0]);
    assert.match(message, /\.$/);
    assert.doesNotMatch(JSON.stringify(job.error), /127\.0\.0\.1|s3cr3t/);
    assert.equal(server.requests.length, requests);
    assert.deepEqual(await environment.fetches(), []);
    assert.deepEqual(await fixture.files(), []);
    assert.deepEqual(await balance(account), { amount: 60e6, held: 0 });
    const events = await fixture.db.rows({ text: 'select type, job_id from events' });
    assert.deepEqual(events, [{ type: 'transcription.failed', job_id: job.id }]);
    assert.deepEqual(
      fixture.counted.map(({ id }) => id),
      [job.id],
    );
    assert.deepEqual(await correctQueueCounts(fixture.db), []);
  });
}

test('a message names the text that came in place of audio', async () => {
  await using environment = await openEnvironment(
    serveFile(Buffer.from('<html>'), { 'content-type': 'text/html; charset=utf-8' }),
  );

  const { job } = await runFailing(environment);

  assert.match(job.error.message, /text\/html/);
});

test('a fetch that fails twice with 503 succeeds at its third try, and a third failure is final', async () => {
  await using environment = await openEnvironment((request, response, index) => {
    const isFine = request.path === '/fine' && index >= 2;
    (isFine ? serveFile(WAV) : status(503))(request, response, index);
  });
  const { fixture, server, send, dueNow } = environment;
  const account = await fixture.account();
  await fixture.startFetcher();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const waiting = (tries: number) =>
    until(`try ${tries} to end`, async () => {
      const [fetch] = await environment.fetches();
      return fetch?.['tries'] === tries && fetch['holder'] === null ? fetch : null;
    });

  const fine = (await send(account, { audio_url: `${server.origin}/fine` })).json;
  const first = await waiting(1);
  const delayMs = (first['next_at'] as Date).getTime() - Date.now();
  await dueNow();
  await waiting(2);
  await dueNow();
  const completed = await fixture.ended(account, fine.id);
  const bad = (await send(account, { audio_url: `${server.origin}/bad` })).json;
  for (const tries of [1, 2]) {
    await waiting(tries);
    await dueNow();
  }
  const failed = await fixture.ended(account, bad.id);

  assert.ok(delayMs > 1_000 && delayMs <= 5_000, `${delayMs} ms`);
  assert.equal(completed.status, 'completed');
  assert.deepEqual([failed.error.reason, failed.error.http_status], ['http_status', 503]);
  assert.equal(server.requests.length, 6);
});

test('a file that breaks off is resumed, which counts as a try; each third failure is final', async () => {
  const parts = { etag: '"v1"', 'content-length': WAV.length };
  await using environment = await openEnvironment((request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? -1);
    if (from === -1) response.writeHead(200, parts);
    else {
      const range = { 'content-range': `bytes ${from}-${WAV.length - 1}/${WAV.length}` };
      response.writeHead(206, { ...parts, ...range, 'content-length': WAV.length - from });
    }
    if (from >= 0 && request.path === '/fine') response.end(WAV.subarray(from));
    else response.write(WAV.subarray(Math.max(from, 0)).subarray(0, 1_000), () => response.destroy());
  });
  const { fixture, send, server } = environment;
  const account = await fixture.account();
  const waitedMs: number[] = [];
  const sleep: Clock['sleep'] = async (ms, signal) => {
    if (ms !== 5_000 && ms !== 30_000) return await systemClock.sleep(ms, signal);
    waitedMs.push(ms);
  };
  await fixture.startFetcher({ clock: { ...systemClock, sleep } });
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));

  const fine = await fixture.ended(account, (await send(account, { audio_url: `${server.origin}/fine` })).json.id);
  const bad = await fixture.ended(account, (await send(account, { audio_url: `${server.origin}/bad` })).json.id);

  assert.deepEqual([fine.status, fine.audio.size_bytes], ['completed', WAV.length]);
  assert.deepEqual([bad.status, bad.error.reason], ['failed', 'connect']);
  assert.deepEqual(
    server.requests.map(({ headers }) => headers.range !== undefined),
    [false, true, false, true, true],
  );
  assert.deepEqual(waitedMs, [5_000, 5_000, 30_000]);
  await until('the audio to be erased', async () => (await fixture.files()).length === 0);
});

test('the name of a fetched file is the one of Content-Disposition', async () => {
  await using environment = await openEnvironment(
    serveFile(WAV, { 'content-disposition': `attachment; filename*=UTF-8''caf%C3%A9.wav` }),
  );
  const { fixture, send } = environment;
  const account = await fixture.account();
  await fixture.startFetcher();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));

  const accepted = (await send(account)).json;
  const job = await fixture.ended(account, accepted.id);

  assert.deepEqual([accepted.audio.filename, job.audio.filename], ['a b.wav', 'café.wav']);
});

test('a synchronous request waits for fetch and transcript; a failed fetch is a 422 with the job and the reason', async () => {
  await using environment = await openEnvironment((request, response, index) =>
    (request.path === '/gone' ? status(404) : serveFile(WAV))(request, response, index),
  );
  const { fixture, server, send } = environment;
  const account = await fixture.account();
  await fixture.startFetcher();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));

  const completed = await send(account, { async: false });
  const gone = await send(account, { async: false, audio_url: `${server.origin}/gone` });

  assert.deepEqual([completed.status, completed.json.text], [200, 'hello']);
  const { job_id, error, ...rest } = gone.json;
  assert.deepEqual(
    [gone.status, error.type, error.param, rest],
    [422, 'audio_fetch_failed', 'audio_url', { reason: 'http_status', http_status: 404 }],
  );
  assert.equal((await fixture.job(account, job_id)).status, 'failed');
});

test('an account without credit is refused at once; audio that its balance does not cover fails after the fetch', async () => {
  await using environment = await openEnvironment(serveFile(wavFile(60)));
  const { fixture, send, server, balance } = environment;
  const [poor, short] = [await fixture.account({ credits: 0 }), await fixture.account({ credits: 1 })];

  const refused = await send(poor);
  await fixture.startFetcher();
  const { json } = await send(short);
  const job = await fixture.ended(short, json.id);

  assert.deepEqual([refused.status, refused.json.error.type], [402, 'insufficient_balance']);
  assert.deepEqual([job.status, job.error.type, job.cost], ['failed', 'insufficient_balance', 0]);
  assert.match(job.error.message, /costs 2 credits and the balance holds 1\./);
  assert.deepEqual(await balance(short), { amount: 60e6, held: 0 });
  assert.equal(server.requests.length, 1);
  await until('the file to be removed', async () => (await fixture.files()).length === 0);
});

test('at most two fetches of an account run at once, and another account does not wait for it', async () => {
  const open: ServerResponse[] = [];
  await using environment = await openEnvironment((_request, response) => void open.push(response));
  const { fixture, send, server } = environment;
  const [busy, other] = [await fixture.account({ shard: 7 }), await fixture.account({ shard: 7 })];
  await Promise.all([fixture.startFetcher(), fixture.startFetcher({ holder: 'node_other/fetcher' })]);
  const jobs: string[] = [];
  for (let count = 0; count < 5; count++) jobs.push((await send(busy)).json.id);
  await server.waitFor(2);

  const { id } = (await send(other)).json;
  await server.waitFor(3);
  const runningOfBusy = (await environment.fetches()).filter(
    ({ holder, account_id }) => holder !== null && account_id === busy.id,
  );

  assert.equal(runningOfBusy.length, 2);
  for (let count = 0; count < 6; count++) {
    await server.waitFor(count + 1);
    open[count]!.writeHead(200, { 'content-length': WAV.length }).end(WAV);
  }
  await until('all to be fetched', async () => (await environment.fetches()).length === 0);
  assert.ok(server.mostAtOnce() <= 3, `${server.mostAtOnce()} at once`);
  assert.deepEqual(await findWrongCounts(fixture.db, 7), []);
  assert.equal((await fixture.job(other, id)).queue_position !== undefined, true);
  assert.equal(jobs.length, 5);
});

test('canceling a job ends its fetch and leaves nothing; a canceled job emits nothing', async () => {
  const closed = Promise.withResolvers<void>();
  await using environment = await openEnvironment((_request, response) => {
    response.on('close', () => closed.resolve());
    response.writeHead(200).write(Buffer.alloc(600_000));
  });
  const { fixture, send, server } = environment;
  const account = await fixture.account();
  await fixture.startFetcher();
  const { id } = (await send(account)).json;
  await server.waitFor(1);
  await until('a part of the file', async () => (await fixture.files()).length === 1);

  const canceled = await fixture.cancel(account, id);
  await closed.promise;

  assert.deepEqual([canceled.status, canceled.json.status, canceled.json.cost], [200, 'canceled', 0]);
  assert.deepEqual(await environment.fetches(), []);
  await until('the part to be removed', async () => (await fixture.files()).length === 0);
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from events' }), []);
  assert.deepEqual(await correctQueueCounts(fixture.db), []);
});

test('a stop releases the fetch without counting a try, and another process begins it again at once', async () => {
  let isFirst = true;
  await using environment = await openEnvironment((request, response, index) => {
    if (!isFirst) return serveFile(WAV)(request, response, index);
    isFirst = false;
    response.writeHead(200).write(Buffer.alloc(600_000));
  });
  const { fixture, send, server } = environment;
  const account = await fixture.account();
  const stopped = await fixture.startFetcher();
  const { id } = (await send(account)).json;
  await server.waitFor(1);

  await stopped.stop();
  const [released] = await environment.fetches();
  const files = await fixture.files();
  await fixture.startFetcher({ holder: 'node_other/fetcher' });
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));

  assert.deepEqual([released!['holder'], released!['tries'], files], [null, 0, []]);
  assert.equal((await fixture.ended(account, id)).status, 'completed');
  assert.equal(server.requests.length, 2);
});

test('a fetch of a process that ended begins again, and what the ended process writes late is rejected', async () => {
  const open: ServerResponse[] = [];
  await using environment = await openEnvironment((_request, response) => void open.push(response));
  const { fixture, send, server, balance } = environment;
  const account = await fixture.account({ credits: 10 });
  await fixture.startFetcher({ holder: 'node_old/fetcher' });
  const { id } = (await send(account)).json;
  await server.waitFor(1);

  await returnFetchesOf(fixture.db, 'node_old/');
  await server.waitFor(2);
  for (const response of open) response.writeHead(200).end(WAV);
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  const job = await fixture.ended(account, id);

  assert.equal(job.status, 'completed');
  assert.deepEqual(await balance(account), { amount: 600e6 - 2e6, held: 0 });
  const holds = await fixture.db.rows({ text: `select kind from ledger where job_id = $1 order by id`, values: [id] });
  assert.deepEqual(holds, [{ kind: 'hold' }, { kind: 'capture' }]);
  await until('the files to be removed', async () => (await fixture.files()).length === 0);
  assert.deepEqual(await correctQueueCounts(fixture.db), []);
});

for (const [what, change, error] of [
  ['an hour of fetching', 'spent_ms = 3600000', { type: 'audio_fetch_failed', reason: 'timeout' }],
  ['a day without a finished try', `created_at = created_at - interval '25 hours'`, { type: 'engine_error' }],
] as const) {
  test(`${what} ends the job`, async () => {
    await using environment = await openEnvironment(() => undefined);
    const { fixture, send } = environment;
    const account = await fixture.account();
    const { id } = (await send(account)).json;
    await fixture.db.run({ text: `update audio_fetches set ${change}` });

    await fixture.startFetcher();
    const job = await fixture.ended(account, id);

    const { message: _message, ...rest } = job.error;
    assert.deepEqual([job.status, rest], ['failed', error]);
    assert.deepEqual(await environment.fetches(), []);
  });
}

test('while the disk is full a fetch waits, and counts no try', async () => {
  await using environment = await openEnvironment(serveFile(WAV));
  const { fixture, send, server } = environment;
  const account = await fixture.account();
  let freeBytes = 2 ** 40;
  const storage = { ...fixture.storage, freeBytes: async () => freeBytes };
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  freeBytes = 0;
  await fixture.startFetcher({ storage });

  const { id } = (await send(account)).json;
  const waiting = await until('the fetch to wait', async () => {
    const [fetch] = await environment.fetches();
    return fetch?.['holder'] === null && Number(fetch['lease']) > 0 ? fetch : null;
  });
  freeBytes = 2 ** 40;
  await environment.dueNow();

  assert.equal(waiting['tries'], 0);
  assert.equal((await fixture.ended(account, id)).status, 'completed');
  assert.equal(server.requests.length, 1);
});

test('with AUDIO_URL=off requests are refused, and accepted jobs fail without a connection', async () => {
  await using environment = await openEnvironment(serveFile(WAV));
  const { fixture, send, server } = environment;
  const account = await fixture.account();
  const { id } = (await send(account)).json;

  await fixture.startFetcher({ config: { ...fixture.config, audioUrl: 'off' } });
  const job = await fixture.ended(account, id);
  await using closed = await openJobFixture({ AUDIO_URL: 'off' });
  const stranger = await closed.account();
  const refused = await closed.post(stranger, '/v1/transcribe', jsonUpload({ audio_url: 'https://a.example.com/' }));

  assert.deepEqual([job.status, job.error.reason], ['failed', 'forbidden_address']);
  assert.equal(server.requests.length, 0);
  assert.deepEqual([refused.status, refused.json.error.param], [400, 'audio_url']);
});

test('a job whose audio is being fetched is not started, not counted as waiting, and erased with its URL', async () => {
  await using environment = await openEnvironment(() => undefined);
  const { fixture, send } = environment;
  const account = await fixture.account();
  const engine = openFakeEngine({ says: 'hello' });
  await fixture.startWorker(engine);
  const { id } = (await send(account)).json;
  const uploaded = (await fixture.transcribe(account, WAV, { async: '1' })).json;
  await fixture.ended(account, uploaded.id);

  const waiting = await fixture.db.rows({ text: 'select waiting from job_queues' });
  const read = await fixture.job(account, id);
  const erased = await fixture.erase(account, id);

  assert.deepEqual([waiting, read.status, 'queue_position' in read], [[{ waiting: 0 }], 'queued', false]);
  assert.equal(engine.count(), 1);
  assert.equal(erased.status, 204);
  assert.deepEqual(await environment.fetches(), []);
});

function pour(response: ServerResponse): void {
  const write = () => {
    while (!response.destroyed && response.write(Buffer.alloc(65_536))) {}
  };
  response.on('drain', write);
  write();
}
