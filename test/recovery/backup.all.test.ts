import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { WebhookVerificationError } from '#sdk/webhooks/verification.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Json = any;

test('a copied data directory works; without its secrets key, webhooks need new secrets', async () => {
  await using receiver = await openReceiver();
  const original = await open(receiver, temporaryFolder());
  const { key } = await original.account();
  const { id, secret } = await call(original, key, 'POST', '/v1/webhooks', {
    body: JSON.stringify({ url: receiver.url, events: ['webhook.test', 'transcription.completed'] }),
  });
  await transcribe(original, key, 'kept');
  await receiver.waitFor(1);
  await original.stop();
  const whole = copyOf(original.dataDir);
  const keyless = copyOf(original.dataDir);
  rmSync(path.join(keyless, 'secrets-key'));
  await original[Symbol.asyncDispose]();

  await using restored = await open(receiver, whole);
  await call(restored, key, 'POST', `/v1/webhooks/${id}/test`, {});
  verify(await receiver.waitFor(2), secret);
  assert.equal((await call(restored, key, 'GET', '/v1/jobs', {})).data[0].text, 'kept');
  await restored.stop();

  await assert.rejects(open(receiver, keyless), /with a key that this node does not have/);
  await using poorer = await open(receiver, keyless, { UNREADABLE_ROWS: 'keep' });
  assert.equal((await call(poorer, key, 'GET', '/v1/jobs', {})).data[0].text, 'kept');
  await transcribe(poorer, key, 'late');
  await until('the deliverer to complain', () =>
    /"msg":"the secret of a webhook cannot be opened/.test(poorer.logText()),
  );
  assert.equal(receiver.requests.length, 2);
  const rotated = await call(poorer, key, 'POST', `/v1/webhooks/${id}/rotate-secret`, { body: '{}' });
  const delivery = await receiver.waitFor(3);
  verify(delivery, rotated.secret);
  assert.throws(() => verify(delivery, secret), WebhookVerificationError);
});

function open(receiver: Receiver, dataDir: string, env: Record<string, string> = {}): Promise<TestService> {
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  return openService(
    {
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
      NODE_EXTRA_CA_CERTS: caFile,
      ...env,
    },
    dataDir,
  );
}

/** As docs/operations.md says: with owners and modes. */
function copyOf(dataDir: string): string {
  const copy = temporaryFolder();
  execFileSync('cp', ['-a', `${dataDir}/.`, copy]);
  return copy;
}

function verify({ headers, body }: Receiver['requests'][number], secret: string) {
  return verifyDelivery({ secret, headers, body });
}

async function call(
  service: TestService,
  key: string,
  method: string,
  route: string,
  request: RequestInit,
): Promise<Json> {
  const headers = { 'x-api-key': key, ...(typeof request.body === 'string' && { 'content-type': 'application/json' }) };
  const answer = await fetch(service.baseUrl + route, { method, headers, ...request });
  if (!answer.ok) throw new Error(`${route} answered ${answer.status}: ${await answer.text()}`);
  return await answer.json();
}

async function transcribe(service: TestService, key: string, text: string) {
  const form = new FormData();
  form.append('async', 'true');
  form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
  await call(service, key, 'POST', '/v1/transcribe', { body: form });
}
