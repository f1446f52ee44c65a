import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { openS3Server } from '../fixtures/servers/s3-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const TEXT = 'from one to the other';

test('with a bucket, one node receives an upload, another transcribes it, and the first delivers the event', async () => {
  await using db = await openTestDatabase();
  await using s3 = await openS3Server();
  await using receiver = await openReceiver();
  const shared = {
    ...s3.env,
    DATABASE_URL: db.url,
    STORAGE_URL: `s3://${s3.bucket}/verbatim`,
    ADMIN_TOKEN: randomBytes(24).toString('base64url'),
    SECRETS_KEY: randomBytes(32).toString('base64'),
    AUDIO_RETENTION_HOURS: '0',
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
  };
  await using front = await openNode('api,deliverer,janitor', shared);
  const { key } = await front.account();
  const headers = { 'x-api-key': key };
  const webhook = await post(`${front.baseUrl}/v1/webhooks`, {
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, events: ['transcription.completed'] }),
  });
  const form = new FormData();
  form.append('async', 'true');
  form.append('file', new Blob([new Uint8Array(toneWav(TEXT))]), 'tone.wav');

  const job = await post(`${front.baseUrl}/v1/transcribe`, { headers, body: form });
  const waiting = await s3.contents();
  await using back = await openNode('transcriber', shared);
  const delivery = await receiver.waitFor(1);
  await until('the audio to be erased', async () => (await s3.contents()).length === 0);

  const event = verifyDelivery({ secret: webhook['secret']!, headers: delivery.headers, body: delivery.body });
  assert.equal((event.data as { job: { id: string; text: string } }).job.id, job['id']);
  assert.equal((event.data as { job: { id: string; text: string } }).job.text, TEXT);
  assert.match(waiting.join(), /^verbatim\/[0-9a-f-]{36}$/);
  for (const { dataDir } of [front, back]) {
    assert.deepEqual(readdirSync(path.join(dataDir, 'audio'), { recursive: true }), ['fetched']);
  }
  assert.equal((await fetch(`${back.baseUrl}/v1/jobs`, { headers })).status, 404);

  s3.answerAll(503);
  const readiness = await fetch(`${front.baseUrl}/readyz`);
  const refused = await fetch(`${front.baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form });

  assert.equal(readiness.status, 503);
  assert.match(await readiness.text(), /audio storage cannot be used/);
  assert.equal(refused.status, 503);
  assert.ok(Number(refused.headers.get('retry-after')) > 0);
});

function openNode(roles: string, shared: Record<string, string> & { ADMIN_TOKEN: string }): Promise<TestService> {
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  // A node that generates its token writes it to this file; accounts are created with the token in it.
  writeFileSync(path.join(dataDir, 'admin-token'), shared.ADMIN_TOKEN);
  return openService({ ...shared, ROLES: roles, NODE_EXTRA_CA_CERTS: caFile }, dataDir);
}

async function post(url: string, request: RequestInit): Promise<Record<string, string>> {
  const answer = await fetch(url, { method: 'POST', ...request });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, string>;
}
