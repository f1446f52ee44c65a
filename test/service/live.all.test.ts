import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after } from 'node:test';
import { WebSocket } from 'ws';
import { setupTokenOf } from '../../src/accounts/people/credentials/setup-token.ts';
import { flacSeconds } from '../../src/audio/media/stated-size.ts';
import { STREAMING_TONE_MODEL, TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { LiveClient } from '../fixtures/live-client.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type ServiceAccount, type TestService } from '../fixtures/service.ts';
import { SPEECH_MODEL, withSpeechModel } from '../fixtures/speech-model.ts';
import { until } from '../fixtures/until.ts';

const TONE_ENGINES = {
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
  AUDIO_RETENTION_HOURS: '1',
};
const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
type Browser = { id: string; cookie: string };
const SILENCE = new Uint8Array(32_000);

function tone(text: string): Uint8Array {
  const { buffer, byteOffset, byteLength } = toneSpeech(text);
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function apiOf(service: TestService, { key }: ServiceAccount) {
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  const call = async (method: string, route: string, body?: object): Promise<{ status: number; json: any }> => {
    const headers = { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    return { status: answer.status, json: text.startsWith('{') ? JSON.parse(text) : text };
  };
  return {
    call,
    async begin(body: object = {}) {
      const { status, json } = await call('POST', '/v1/live', body);
      assert.equal(status, 201, JSON.stringify(json));
      return { created: json, client: new LiveClient(service.baseUrl, json) };
    },
  };
}

/** Values of /metrics by the names and labels of their series. */
async function metricsOf({ baseUrl, adminToken }: TestService): Promise<Map<string, number>> {
  const answer = await fetch(`${baseUrl}/metrics`, { headers: { authorization: `Bearer ${adminToken}` } });
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
  );
}

function closesOf(metrics: Map<string, number>, code: number): number {
  return metrics.get(`verbatim_live_closes_total{code="${code}"}`) ?? 0;
}

// For tests that neither read figures of the whole service nor change its settings: a start takes two seconds.
const shared = await openService(TONE_ENGINES);
after(() => shared[Symbol.asyncDispose]());

test('speech is transcribed while it comes, and the end of the session is the end of its job', async () => {
  const service = shared;
  const { begin, call } = apiOf(service, await service.account({ plan: 'pro', credits: 10 }));
  const { created, client } = await begin({ metadata: '{"n":12345678901234567890}', timestamps: 'word' });
  assert.deepEqual([created.status, created.job.live], ['queued', undefined]);

  const hello = await client.connect();
  client.send(tone('hello world'));
  client.send(SILENCE);
  const first = await client.next('segment');
  const { json: open } = await call('GET', `/v1/jobs/${created.id}`);
  client.send(tone("don't stop"));
  const done = await client.finish();

  assert.deepEqual([hello.offset, hello.next_seq, hello.resumed, hello.connection], [0, 1, false, 1]);
  assert.deepEqual([first.seq, first.index, first.text, first.reason], [1, 0, 'hello world', 'endpoint']);
  assert.deepEqual(
    first.words.map(({ text }: { text: string }) => text),
    ['hello', 'world'],
  );
  assert.deepEqual([open.status, open.live.connected], ['processing', true]);
  assert.equal(client.text, "hello world don't stop");
  assert.deepEqual([done.seq, done.job.status, done.job.text], [3, 'completed', "hello world don't stop"]);
  const { json: job } = await call('GET', `/v1/jobs/${created.id}`);
  const { json: balance } = await call('GET', '/v1/balance');
  assert.deepEqual([job.text, job.audio.format, job.live], ["hello world don't stop", 'wav', undefined]);
  assert.match(
    await (
      await fetch(`${service.baseUrl}/v1/jobs/${created.id}`, {
        headers: { 'x-api-key': (await begin()).created.token },
      })
    ).text(),
    /unauthenticated/,
  );
  assert.equal(balance.amount + balance.held, 10 - job.cost);
  assert.equal(job.cost, Math.round((job.audio.duration_seconds / 60) * 2 * 1e6) / 1e6);
  const { status } = await call('GET', `/v1/jobs/${created.id}/audio`);
  assert.equal(status, 200);
});

for (const [engine, live] of [
  ['transcribes again and again', {}],
  ['streams', { ENGINE_LIVE_PRO: `sherpa-onnx:${STREAMING_TONE_MODEL}` }],
] as const) {
  test(`a client that is cut off goes on where the server is, and gets what it has not seen, of an engine that ${engine}`, async () => {
    await using service = await openService({ ...TONE_ENGINES, ...live });
    const { begin } = apiOf(service, await service.account());
    const { client } = await begin();
    await client.connect();
    client.send(tone('hello world'));
    client.send(SILENCE);
    client.send(tone('good morning'));
    await client.next('segment');
    client.cut();
    client.send(SILENCE);
    client.send(tone('again'));
    const { acknowledged } = client;

    const hello = await client.connect();
    const done = await client.finish();

    assert.deepEqual([hello.resumed, hello.connection], [true, 2]);
    assert.ok(acknowledged > 0 && hello.offset >= acknowledged);
    assert.equal(done.job.text, 'hello world good morning again');
    assert.deepEqual([...client.segments.keys()], [1, 2, 3]);
    const metrics = (await until('both closes', async () => {
      const found = await metricsOf(service);
      // The new connection may come before the service learns that the old one was cut.
      return closesOf(found, 1000) === 1 && closesOf(found, 1006) + closesOf(found, 4001) === 1 ? found : null;
    }))!;
    const connections = ['new', 'resumed'].map((kind) =>
      metrics.get(`verbatim_live_connections_total{kind="${kind}"}`),
    );
    assert.deepEqual(connections, [1, 1]);
    assert.equal(metrics.get('verbatim_live_sessions'), 0);
    const seconds = metrics.get('verbatim_live_audio_seconds_total{plan="pro"}')!;
    assert.ok(Math.abs(seconds - done.job.audio.duration_seconds) < 0.01, `${seconds} s of audio`);
    assert.ok(metrics.get('verbatim_live_ack_lag_seconds_count')! > 1);
  });
}

test('a new connection replaces one that looks open, and audio that both received counts once', async () => {
  await using service = await openService(TONE_ENGINES);
  const { begin } = apiOf(service, await service.account());
  const { client } = await begin();
  await client.connect();
  client.send(tone('hello world'));

  const hello = await client.connect();
  const { job } = await client.finish();
  const metrics = (await until('the closes', async () => {
    const found = await metricsOf(service);
    return closesOf(found, 1000) === 1 && closesOf(found, 4001) === 1 ? found : null;
  }))!;

  assert.deepEqual([hello.resumed, job.text], [true, 'hello world']);
  const seconds = metrics.get('verbatim_live_audio_seconds_total{plan="pro"}')!;
  assert.ok(Math.abs(seconds - job.audio.duration_seconds) < 0.01, `${seconds} s of audio`);
});

test('of many connections at once the newest has the session, and no audio is lost or doubled', async () => {
  // The one that it replaces has the only place.
  await using service = await openService({ ...TONE_ENGINES, LIVE_SESSIONS: '1' });
  const { begin } = apiOf(service, await service.account());
  const { client, created } = await begin();
  await client.connect();
  client.send(tone('hello world'));
  await client.next('ack');

  const connections = Array.from({ length: 20 }, () => {
    const protocols = ['verbatim.live.v1', `token.${created.token}`];
    const socket = new WebSocket(service.baseUrl.replace('http', 'ws') + created.path, protocols);
    const connection = { number: 0, code: null as number | null };
    socket.on('message', (data) => {
      const message = JSON.parse(String(data));
      if (message.type === 'hello') connection.number = message.connection;
    });
    socket.on('close', (code) => {
      connection.code = code;
    });
    return connection;
  });
  await until('all but one to be replaced', () => connections.filter(({ code }) => code === 4001).length === 19);
  const [newest] = connections.toSorted((left, right) => right.number - left.number);
  const { code, number } = newest!;
  await client.connect();
  const { job } = await client.finish();

  assert.deepEqual([code, number], [null, 21]);
  assert.deepEqual([job.text, job.audio.duration_seconds], ['hello world', client.audio.length / 32_000]);
});

test('speech is transcribed live by agreement over the first model', withSpeechModel, async () => {
  const engine = `sherpa-onnx:${SPEECH_MODEL}`;
  await using service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine });
  const { begin } = apiOf(service, await service.account());
  const { client } = await begin();
  await client.connect();
  const audio = readFileSync(new URL('../../assets/speech/librivox-0890.wav', import.meta.url)).subarray(44);
  // Each piece is transcribed before the next one comes: words are stable once two transcripts agree on them.
  for (let at = 0; at < audio.length; at += 64_000) {
    const partial = client.next('partial', ({ end }) => end * 32_000 > at);
    client.send(audio.subarray(at, at + 64_000));
    await partial;
  }

  const { text } = client.messages.find(({ type, stable }) => type === 'partial' && stable > 0);
  assert.match(text, /^Unless to be/i);
  const { job } = await client.finish();

  assert.match(job.text, /rather selfish/);
  assert.equal(job.model, 'moonshine-tiny');
});

test('a session whose client does not come back is completed by a transcriber, and reported', async () => {
  const service = shared;
  const { begin, call } = apiOf(service, await service.account());
  const { created, client } = await begin({ resume_seconds: 0 });
  await client.connect();
  client.send(tone('hello world'));
  client.send(SILENCE);
  client.send(tone('good'));
  await client.next('ack', ({ offset }) => offset > 96_000);
  client.cut();

  const job = await until('the job to end', async () => {
    const { json } = await call('GET', `/v1/jobs/${created.id}?wait=5`);
    return json.status === 'completed' && json;
  });

  assert.equal(job.text, 'hello world good');
  assert.deepEqual(
    job.warnings.map(({ code }: { code: string }) => code),
    ['connection_lost'],
  );
  const { json: events } = await call('GET', '/v1/events');
  assert.deepEqual(
    events.data.map(({ type }: { type: string }) => type),
    ['transcription.completed'],
  );
});

test('the balance ends a session at the millisecond that it covers', async () => {
  const service = shared;
  const { begin, call } = apiOf(service, await service.account({ plan: 'lite', credits: 1.025 }));
  const { client } = await begin({ sample_rate: 8_000, encoding: 'mulaw' });
  await client.connect();
  const low = client.next('warning', ({ code }) => code === 'balance_low');
  const done = client.next('done');
  const closed = client.next('closed');
  client.send(new Uint8Array(70 * 8_000).fill(0xff));

  assert.ok((await low).seconds_left <= 61.5);
  const { job } = await done;
  assert.deepEqual([job.status, job.error.type, job.audio.duration_seconds], ['failed', 'insufficient_balance', 61.5]);
  assert.equal((await closed).code, 4004);
  const { json: balance } = await call('GET', '/v1/balance');
  assert.deepEqual([balance.amount, balance.held], [0, 0]);
});

test('what cannot be served is refused before the session, and a bad message does not end it', async () => {
  await using service = await openService({ ...TONE_ENGINES, MAX_LIVE_SESSIONS_PER_ACCOUNT: '2' });
  const poor = apiOf(service, await service.account({ plan: 'lite', credits: 0.5 }));
  const { begin, call } = apiOf(service, await service.account());
  const refused = [
    await poor.call('POST', '/v1/live', {}),
    await call('POST', '/v1/live', { diarize: true }),
    await call('POST', '/v1/live', { sample_rate: 11_025 }),
    await call('POST', '/v1/live', { colour: 'red' }),
    await call('GET', `/v1/live/${(await begin()).created.id}`),
  ];
  assert.deepEqual(
    refused.map(({ status, json }) => [status, json.error.type, json.error.param]),
    [
      [402, 'insufficient_balance', undefined],
      [400, 'invalid_request', 'diarize'],
      [400, 'invalid_request', 'sample_rate'],
      [400, 'invalid_request', 'colour'],
      [400, 'invalid_request', 'Upgrade'],
    ],
  );
  const { client } = await begin();
  const third = await call('POST', '/v1/live', {});
  assert.deepEqual([third.status, third.json.error.type], [403, 'plan_limit']);
  await client.connect();
  client.say({ type: 'louder' });
  const error = await client.next('error');
  assert.deepEqual(error.error.param, 'type');
  client.say({ type: 'cancel' });
  const { job } = await client.next('done');
  assert.equal(job.status, 'canceled');
});

test('a full node refuses another session until one ends, and transcribes files beside its sessions', async () => {
  await using service = await openService({ ...TONE_ENGINES, LIVE_SESSIONS: '1', TRANSCRIBE_CONCURRENCY: '1' });
  const account = await service.account();
  const { begin } = apiOf(service, account);
  const headers = { 'x-api-key': account.key };
  const post = async (route: string, body: FormData | string, type = {}) =>
    await fetch(service.baseUrl + route, { method: 'POST', headers: { ...headers, ...type }, body });
  const json = { 'content-type': 'application/json' };
  const { client } = await begin();
  await client.connect();
  client.send(tone('hello'));
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(toneWav('a file'))]), 'a.wav');

  const refused = await post('/v1/live', '{}', json);
  const file = (await (await post('/v1/transcribe', form)).json()) as { text: string };
  client.send(tone(' world'));
  const { job } = await client.finish();
  const accepted = await post('/v1/live', '{}', json);

  assert.equal(refused.status, 503);
  assert.match(await refused.text(), /"unavailable"/);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
  assert.deepEqual([file.text, job.text, accepted.status], ['a file', 'hello world', 201]);
});

test('a session takes lists and objects as JSON, or as the text that a form has', async () => {
  await using service = await openService({ ...TONE_ENGINES, MAX_LIVE_SESSIONS_PER_ACCOUNT: '10' });
  const { call } = apiOf(service, await service.account());
  const headers = { 'x-api-key': (await service.account()).key, 'content-type': 'application/json' };
  const replacements = [{ from: 'hello', to: 'Hello' }];
  const accepted = [
    await call('POST', '/v1/live', { replacements: [], keywords: [] }),
    await call('POST', '/v1/live', { replacements, keywords: ['world', 'Anna'], metadata: [1] }),
    await call('POST', '/v1/live', { replacements: JSON.stringify(replacements), metadata: '"a"' }),
  ];
  const exact = await fetch(`${service.baseUrl}/v1/live`, {
    method: 'POST',
    headers,
    body: '{"metadata": {"n": 12345678901234567890, "z": "\\u0000"}}',
  });
  const refused = [
    await call('POST', '/v1/live', { metadata: 'x' }),
    await call('POST', '/v1/live', { metadata: 7 }),
    await call('POST', '/v1/live', { metadata: { text: 'x'.repeat(4_096) } }),
    await call('POST', '/v1/live', { replacements: '[{"from":1}]' }),
  ];

  assert.deepEqual(
    accepted.map(({ status, json }) => [status, json.job?.options, json.job?.metadata]),
    [
      [201, {}, null],
      [201, { replacements, keywords: ['world', 'Anna'] }, [1]],
      [201, { replacements }, 'a'],
    ],
  );
  assert.match(await exact.text(), /"metadata":\{"n": 12345678901234567890, "z": "\\u0000"\}/);
  assert.deepEqual(
    refused.map(({ status, json }) => [status, json.error?.param]),
    [
      [400, 'metadata'],
      [400, 'metadata'],
      [413, 'metadata'],
      [400, 'replacements'],
    ],
  );
});

test('a session ends within seconds of the key that began it', async () => {
  const service = shared;
  const account = await service.account();
  const { begin, call } = apiOf(service, account);
  const { client, created } = await begin({ resume_seconds: 0 });
  await client.connect();
  client.send(tone('hello'));
  await client.next('ack', ({ offset }) => offset === client.audio.length);
  const closed = client.next('closed');
  const { json: keys } = await call('GET', '/v1/keys');
  const other = apiOf(service, { ...account, key: (await call('POST', '/v1/keys', {})).json.key });

  await call('DELETE', `/v1/keys/${keys.data[0].id}`);

  assert.equal((await closed).code, 4009);
  await assert.rejects(client.connect(), /401|409/);
  const job = await until('the job to end', async () => {
    const { json } = await other.call('GET', `/v1/jobs/${created.id}`);
    return json.status === 'completed' && json;
  });
  assert.equal(job.text, 'hello');
});

test('the session of a user who becomes a viewer ends, and its token connects no more', async () => {
  await using service = await openService({ ...TONE_ENGINES, SECRETS_KEY });
  const send = async (browser: Browser | null, method: string, route: string, body?: object) => {
    const headers = {
      'sec-fetch-site': 'same-origin',
      ...(body && { 'content-type': 'application/json' }),
      ...(browser && { cookie: browser.cookie, 'x-session-id': browser.id }),
    };
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    assert.ok(answer.ok, `${route}: ${answer.status}`);
    // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
    return { json: (await answer.json()) as any, cookie: answer.headers.get('set-cookie')?.split(';')[0] };
  };
  const signUp = async (route: string, email: string, token: string): Promise<Browser> => {
    const user = { token, email, name: 'x', password: 'correct horse battery' };
    const { json, cookie } = await send(null, 'POST', route, user);
    return { id: json.id, cookie: cookie! };
  };
  const owner = await signUp('/v1/setup', 'owner@example.com', setupTokenOf(SECRETS_KEY));
  const { json: invitation } = await send(owner, 'POST', '/v1/invitations', { role: 'member' });
  const invited = invitation.url.slice('/#invitation='.length);
  const member = await signUp('/v1/invitations/accept', 'member@example.com', invited);
  const { json: me } = await send(member, 'GET', '/v1/me');
  const { json: created } = await send(member, 'POST', '/v1/live', {});
  const client = new LiveClient(service.baseUrl, created);
  await client.connect();
  const closed = client.next('closed');

  await send(owner, 'PATCH', `/v1/users/${me.id}`, { role: 'viewer' });

  assert.equal((await closed).code, 4009);
  await assert.rejects(client.connect(), /401/);
});

test('a gap is not charged, takes no space, and the stored audio has the times of the session', async () => {
  const service = shared;
  const account = await service.account({ plan: 'lite', credits: 100 });
  const { client } = await apiOf(service, account).begin();
  await client.connect();
  client.send(tone('hello'));
  client.say({ type: 'gap', to: 3_200_000 });

  const { job } = await client.finish();

  assert.deepEqual(
    job.warnings.map(({ code }: { code: string }) => code),
    ['audio_gap'],
  );
  assert.deepEqual([job.text, job.audio.duration_seconds, job.audio.format], ['hello', 100, 'flac']);
  const stored = await fetch(`${service.baseUrl}/v1/jobs/${job.id}/audio`, { headers: { 'x-api-key': account.key } });
  const file = Buffer.from(await stored.arrayBuffer());
  assert.ok(file.length < client.audio.length + 10_000);
  assert.equal(flacSeconds(file), 100);
  const chargedMs = Math.floor((client.audio.length / 32_000) * 1000);
  assert.equal(job.cost, Math.round((chargedMs / 60_000) * 1e6) / 1e6);
});

const HEARD = {
  body: JSON.stringify({ text: 'heard', language: 'en', segments: [{ start: 0, end: 1, text: 'heard' }] }),
};

test('a speech server that refuses costs the text of one segment, and one that is slow makes the session late', async () => {
  await using engine = await openSpeechServer(HEARD);
  // Each of six tries is followed by a probe, which passes.
  for (let tries = 0; tries < 6; tries++) engine.answerNext({ status: 400, body: '{}' }, HEARD);
  await using service = await openService({ ENGINE_LITE: `openai:${engine.baseUrl}`, AUDIO_RETENTION_HOURS: '0' });
  const { begin } = apiOf(service, await service.account({ plan: 'lite' }));
  const { client } = await begin();
  await client.connect();
  const failed = client.next('warning', ({ code }) => code === 'segment_failed');
  client.send(tone('hello world'));
  client.send(SILENCE);
  const { start, end } = await failed;

  engine.answerAll('hold');
  const calls = engine.requests.length;
  client.send(tone('a second segment that is long enough to be far behind'));
  client.send(SILENCE);
  await until('a call', () => engine.requests.length > calls);
  const done = client.finish();
  const answered = client.next('error');
  client.say({ type: 'is finish read?' });
  await answered;
  engine.answerAll(HEARD);
  engine.answerHeld(HEARD);
  const { job } = await done;

  assert.ok(start < 0.1 && end > 2);
  assert.deepEqual(job.warnings.map(({ code }: { code: string }) => code).sort(), ['behind', 'segment_failed']);
  assert.deepEqual([job.status, job.text], ['completed', 'heard']);
});

for (const end of ['finishes', 'does not come back']) {
  test(`a session whose engine goes away has all its text when the engine is back, though its client ${end}`, async () => {
    await using engine = await openSpeechServer(HEARD);
    await using service = await openService({ ENGINE_LITE: `openai:${engine.baseUrl}`, AUDIO_RETENTION_HOURS: '0' });
    const { begin, call } = apiOf(service, await service.account({ plan: 'lite' }));
    const { created, client } = await begin({ resume_seconds: 0 });
    await client.connect();
    const jobWith = (what: string, value: string) =>
      until(`the job with ${what} ${value}`, async () => {
        const { json } = await call('GET', `/v1/jobs/${created.id}`);
        return json[what] === value && json;
      });
    const first = client.next('segment');
    client.send(tone('hello'));
    client.send(SILENCE);
    await first;

    engine.answerAll('hang up');
    const calls = engine.requests.length;
    const acknowledged = client.next('ack', ({ offset }) => offset === client.audio.length);
    client.send(tone('world'));
    client.send(SILENCE);
    await acknowledged;
    await until('two tries', () => engine.requests.length > calls + 3);
    const done = end === 'finishes' ? client.finish() : null;
    if (done === null) {
      client.cut();
      await jobWith('waiting_for', 'engine');
    }
    engine.answerAll(HEARD);
    await done;
    const job = await jobWith('status', 'completed');

    assert.equal(job.text, 'heard heard');
    const codes = job.warnings.map(({ code }: { code: string }) => code);
    assert.equal(codes.includes('segment_failed'), false);
    assert.equal(codes.includes('connection_lost'), done === null);
  });
}

test('a segment during which the process of its engine is killed twice has the text that it would have had', async () => {
  const streaming = { ENGINE_LIVE_PRO: `sherpa-onnx:${STREAMING_TONE_MODEL}` };
  await using service = await openService({ ...TONE_ENGINES, ...streaming });
  const { begin } = apiOf(service, await service.account());
  const kill = async (times: number) => {
    const child = descendantsOf(service.pid).find(({ arguments: words }) => /sherpa-live-child/.test(words.join(' ')));
    process.kill(child!.pid, 'SIGKILL');
    await until('the service to know', async () => {
      const restarts = [...(await metricsOf(service))].filter(([name]) => /^verbatim_engine_restarts_total/.test(name));
      return restarts.some(([, count]) => count === times);
    });
  };
  const [{ client }, { client: other }] = [await begin(), await begin()];
  await client.connect();
  await other.connect();
  const speech = tone('hello world again');
  const heard = client.next('partial');
  client.send(speech.subarray(0, 32_000));
  await heard;
  await kill(1);
  client.send(speech.subarray(32_000, 48_000));
  // Starts the process again: the open segment of the other client is lost to it.
  const heardOfOther = other.next('partial');
  other.send(tone('good'));
  await heardOfOther;
  await kill(2);
  client.send(speech.subarray(48_000));

  const [done, doneOfOther] = [await client.finish(), await other.finish()];

  assert.deepEqual([done.job.text, done.job.warnings], ['hello world again', []]);
  assert.deepEqual([doneOfOther.job.text, doneOfOther.job.warnings], ['good', []]);
});

test('what comes while more of the balance is held is taken in order before the end', async () => {
  const service = shared;
  const { begin } = apiOf(service, await service.account({ plan: 'lite', credits: 100 }));
  const { client } = await begin({ sample_rate: 8_000, encoding: 'mulaw' });
  await client.connect();
  const finalized = client.next('finalized');

  // A minute is held.
  client.send(new Uint8Array(61 * 8_000).fill(0xff));
  client.say({ type: 'gap', to: 62 * 8_000 });
  client.say({ type: 'finalize', id: 'last' });
  const { job } = await client.finish();

  assert.deepEqual([(await finalized).offset, job.audio.duration_seconds], [62 * 8_000, 62]);
  assert.equal(job.cost, Math.round((61 / 60) * 1e6) / 1e6);
});
