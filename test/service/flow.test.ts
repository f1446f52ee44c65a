import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { inEvent } from '../fixtures/webhooks/job-in-event.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const METADATA = '{"order": 12345678901234567890, "z":1, "a":[1.0,1e400,"\\u00e9\\u0000\\ud800"], "a":2}';

async function openEnvironment(receiver: Receiver, env: Record<string, string> = {}): Promise<TestService> {
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const settings = {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
  };
  return await openService({ ...settings, ...env }, dataDir);
}

type Json = Record<string, unknown>;

async function call(service: TestService, key: string, method: string, route: string, body?: Json | FormData) {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(body && !isForm && { 'content-type': 'application/json' }) },
    ...(body && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, text, json: text.startsWith('{') ? JSON.parse(text) : null };
}

function upload(fields: Record<string, string>, text: string): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('audio', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
  return form;
}

const receiver = await openReceiver();
// Successful attempts are logged at this level.
const service = await openEnvironment(receiver, { LOG_LEVEL: 'debug' });
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

test('audio that is posted comes back as exact text through a signed webhook, and no secret is logged', async () => {
  const { key } = await service.account({ credits: 10 });
  const webhook = await call(service, key, 'POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['transcription.completed', 'transcription.failed'],
  });

  const accepted = await call(
    service,
    key,
    'POST',
    '/v1/transcribe',
    upload({ async: 'true', metadata: METADATA, timestamps: 'word' }, 'hello quiet world'),
  );
  const delivery = await receiver.waitFor(1);
  const event = verifyDelivery({ secret: webhook.json.secret, headers: delivery.headers, body: delivery.body });
  const job = (await call(service, key, 'GET', `/v1/jobs/${accepted.json.id}`)).json;
  const balance = (await call(service, key, 'GET', '/v1/balance')).json;

  assert.equal(accepted.status, 202);
  assert.equal(event.type, 'transcription.completed');
  assert.ok(delivery.body.includes(`"metadata":${METADATA}`));
  assert.deepEqual((JSON.parse(delivery.body.toString()) as { data: { job: Json } }).data.job, inEvent(job));
  assert.equal(job.text, 'hello quiet world');
  assert.deepEqual(
    job.segments.flatMap((segment: { words: { text: string }[] }) => segment.words.map((word) => word.text)),
    ['hello', 'quiet', 'world'],
  );
  assert.equal(balance.held, 0);
  assert.ok(Math.abs(10 - balance.amount - job.cost) < 1e-6);
  // The attempt is logged once it is recorded, a moment after the receiver had it.
  await until('the attempt in the log', () => service.logText().includes(`"event_id":"${event.id}"`));
  const log = service.logText();
  const secrets = [
    key,
    webhook.json.secret,
    service.adminToken,
    'quiet',
    '12345678901234567890',
    String(delivery.headers['x-service-signature']),
  ];
  assert.deepEqual(
    secrets.filter((secret) => log.includes(secret)),
    [],
  );
  assert.match(log, /"msg":"request"/);
  assert.match(log, new RegExp(`"job_id":"${job.id}"`));
});

test('a synchronous request is answered with the text in the format asked for', async () => {
  const { key } = await service.account();

  const text = await call(service, key, 'POST', '/v1/transcribe', upload({ response_format: 'text' }, 'so it is'));
  const srt = await call(service, key, 'POST', '/v1/transcribe', upload({ response_format: 'srt' }, 'so it is'));

  assert.equal(text.status, 200);
  assert.equal(text.text.trim(), 'so it is');
  assert.match(srt.text, /^1\n00:00:00,\d{3} --> 00:00:0\d,\d{3}\nso it is\n/);
});

test('a failing receiver gets four attempts at their times, each with its own id and signature, the body unchanged', async () => {
  await using receiver = await openReceiver({ reply: () => ({ status: 503 }) });
  await using service = await openEnvironment(receiver, { WEBHOOK_RETRY_DELAYS: '0,0.3,0.6,0.9' });
  const { key } = await service.account();
  const { secret } = (
    await call(service, key, 'POST', '/v1/webhooks', { url: receiver.url, events: ['transcription.completed'] })
  ).json;

  await call(service, key, 'POST', '/v1/transcribe', upload({ async: 'true' }, 'abc'));
  await receiver.waitFor(4);
  const attempts = receiver.requests;

  assert.deepEqual(
    attempts.map(({ headers }) => headers['x-service-attempt']),
    ['1', '2', '3', '4'],
  );
  assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-delivery-id'])).size, 4);
  assert.equal(new Set(attempts.map(({ headers }) => headers['x-service-event-id'])).size, 1);
  assert.equal(new Set(attempts.map(({ body }) => body.toString())).size, 1);
  for (const { headers, body } of attempts) verifyDelivery({ secret, headers, body });
});
