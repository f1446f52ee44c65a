import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { type AudioServer, type Handler, openAudioServer } from '../fixtures/servers/audio-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { FORBIDDEN_URLS } from '../fixtures/webhooks/forbidden-urls.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const TEXT = 'hello quiet world';
const WAV = toneWav(TEXT);
const SECRETS = /s3cr3t|t0ken|X-Signature/;

function openNode(server: AudioServer, receiver: Receiver, dataDir: string): Promise<TestService> {
  const caFile = path.join(dataDir, 'ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const env = {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${server.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    RATE_LIMIT_TRANSCRIBE: 'off',
    LOG_LEVEL: 'debug',
  };
  return openService(env, dataDir);
}

async function call(
  service: TestService,
  key: string,
  method: string,
  route: string,
  body?: object,
  more: Record<string, string> = {},
) {
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { ...more, 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: answer.status, text, json: JSON.parse(text) as any };
}

const serve: Handler = (request, response) => {
  if (request.path.startsWith('/gone')) response.writeHead(404).end();
  else response.writeHead(200, { 'content-length': WAV.length }).end(WAV);
};

// Of the tests that do not stop it: a start takes seconds.
const server = await openAudioServer(serve);
const receiver = await openReceiver();
const service = await openNode(server, receiver, temporaryFolder());
after(async () => {
  for (const each of [service, server, receiver]) await each[Symbol.asyncDispose]();
});

test('audio by URL comes back as exact text through a webhook, forbidden URLs are refused, and no secret is logged', async () => {
  const { key } = await service.account({ credits: 10 });
  const types = ['transcription.completed', 'transcription.failed'];
  const webhook = (await call(service, key, 'POST', '/v1/webhooks', { url: receiver.url, events: types })).json;
  const send = (name: string, more: object = {}) =>
    call(service, key, 'POST', '/v1/transcribe', {
      audio_url: `${server.origin}/${name}.wav?X-Signature=s3cr3t`,
      audio_url_headers: { Authorization: 'Bearer t0ken' },
      metadata: '{"order": 12345678901234567890}',
      ...more,
    });

  const sync = await send('sync');
  const gone = await send('gone', { async: true });
  await receiver.waitFor(2);
  const events = receiver.requests.map(({ headers, body }) =>
    verifyDelivery({ secret: webhook.secret, headers, body }),
  );
  const failed = events.find((event) => event.type === 'transcription.failed') as never as {
    data: { job: { id: string; error: object; audio: object } };
  };
  const refused = [];
  for (const audio_url of FORBIDDEN_URLS)
    refused.push([audio_url, await call(service, key, 'POST', '/v1/transcribe', { audio_url })] as const);
  const jobs = await call(service, key, 'GET', '/v1/jobs');
  const balance = (await call(service, key, 'GET', '/v1/balance')).json;
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();

  assert.deepEqual([sync.status, sync.json.text], [200, TEXT]);
  assert.ok(sync.text.includes('"metadata":{"order": 12345678901234567890}'));
  assert.equal(sync.json.audio.source, `${server.origin}/sync.wav`);
  assert.equal(failed.data.job.id, gone.json.id);
  assert.deepEqual(failed.data.job.error, {
    type: 'audio_fetch_failed',
    message: 'The server answered 404.',
    reason: 'http_status',
    http_status: 404,
  });
  assert.deepEqual(
    refused.map(([url, { status, json }]) => [url, status, json.error.type, json.error.param]),
    FORBIDDEN_URLS.map((url) => [url, 400, 'forbidden_url', 'audio_url']),
  );
  assert.equal(jobs.json.data.length, 2);
  assert.deepEqual([balance.held, balance.amount], [0, 10 - sync.json.cost]);
  assert.match(metrics, /^verbatim_jobs_total\{outcome="failed",error_type="audio_fetch_failed",plan="pro"\} 1$/m);
  const shown = [
    service.logText(),
    sync.text,
    gone.text,
    jobs.text,
    ...receiver.requests.map(({ body }) => String(body)),
  ];
  for (const text of shown) assert.doesNotMatch(text, SECRETS);
});

test('a request that is repeated with its Idempotency-Key makes one job; with another URL it is a 409', async () => {
  const { key } = await service.account();
  const send = (name: string) => {
    const body = { audio_url: `${server.origin}/${name}`, async: true };
    return call(service, key, 'POST', '/v1/transcribe', body, { 'idempotency-key': 'once' });
  };

  const [first, again, other] = [await send('a.wav'), await send('a.wav'), await send('b.wav')];

  assert.deepEqual([first.status, again.status, again.text], [202, 202, first.text]);
  assert.deepEqual([other.status, other.json.error.type], [409, 'conflict']);
  assert.equal((await call(service, key, 'GET', '/v1/jobs')).json.data.length, 1);
});

test('a fetch survives the kill of its process, a crash of the node and a stop', async () => {
  let isHolding = true;
  await using server = await openAudioServer((request, response, index) => {
    if (!isHolding) return serve(request, response, index);
    response.writeHead(200, { 'content-length': WAV.length });
    response.write(WAV.subarray(0, WAV.length / 2));
  });
  await using receiver = await openReceiver();
  const dataDir = temporaryFolder();
  const first = await openNode(server, receiver, dataDir);
  const { key } = await first.account({ credits: 10 });
  const body = { audio_url: `${server.origin}/a.wav`, async: true };
  const { id } = (await call(first, key, 'POST', '/v1/transcribe', body)).json;

  await server.waitFor(1);
  const [transcriber] = descendantsOf(first.pid).filter(({ arguments: words }) => words.includes('transcriber'));
  process.kill(transcriber!.pid, 'SIGKILL');
  await server.waitFor(2);
  await first.crash();
  const second = await openNode(server, receiver, dataDir);
  await server.waitFor(3);
  await second.stop();
  isHolding = false;
  await using third = await openNode(server, receiver, dataDir);
  const job = await until('the end of the job', async () => {
    const { json } = await call(third, key, 'GET', `/v1/jobs/${id}`);
    return json.completed_at === null ? null : json;
  });
  const balance = (await call(third, key, 'GET', '/v1/balance')).json;

  assert.deepEqual([job.status, job.text], ['completed', TEXT]);
  assert.equal(second.exitCode(), 0);
  assert.equal(server.requests.length, 4);
  assert.deepEqual([balance.held, balance.amount], [0, 10 - job.cost]);
});
