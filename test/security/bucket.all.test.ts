import assert from 'node:assert/strict';
import test from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openVersityGateway, WITHOUT_VERSITYGW } from '../fixtures/servers/versity-gateway.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const WAV = toneWav('hello world');
const OBJECT = /^calls\/2026\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// What a signed request to the bucket has.
const SECRETS = /password1234|AWS4-HMAC-SHA256|X-Amz-Signature|x-amz-security-token/i;
const FILE_NAMES = [
  ...['../../../other/stolen.wav', '/etc/passwd', '..\\..\\stolen.wav', '%2e%2e%2fstolen.wav', 'a?versionId=x&delete'],
  ...[
    'calls/2026/stolen.wav',
    '.',
    '..',
    'x'.repeat(2_000),
    '名前\u202e.wav',
    'a\u0000b.wav',
    '$AWS_SECRET_ACCESS_KEY',
  ],
];

async function upload(service: TestService, key: string, filename: string) {
  const form = new FormData();
  form.set('metadata', JSON.stringify({ key: filename, bucket: 'other', prefix: '../' }));
  form.set('file', new Blob([WAV]), filename);
  const headers = { 'x-api-key': key };
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form });
  return { status: answer.status, text: await answer.text() };
}

test('no name or metadata of a file steers where it is in the bucket, and no credentials of the bucket are shown', {
  skip: WITHOUT_VERSITYGW,
}, async () => {
  const bucket = await openVersityGateway();
  await using service = await openService({
    ...ENGINES,
    ...bucket.env,
    STORAGE_URL: `s3://${bucket.bucket}/calls/2026`,
    LOG_LEVEL: 'debug',
    RATE_LIMIT_TRANSCRIBE: 'off',
  });
  const { key } = await service.account();

  const answers = [];
  for (const filename of FILE_NAMES) answers.push(await upload(service, key, filename));
  const objects = await bucket.contents();
  await bucket[Symbol.asyncDispose]();
  const away = await upload(service, key, 'a.wav');
  const headers = { authorization: `Bearer ${service.adminToken}` };
  const [readiness, shown] = await Promise.all([
    fetch(`${service.baseUrl}/readyz`).then((answer) => answer.text()),
    fetch(`${service.baseUrl}/admin/v1/settings`, { headers }).then((answer) => answer.text()),
  ]);

  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
  assert.equal(objects.length, FILE_NAMES.length);
  for (const name of objects) assert.match(name, OBJECT);
  assert.equal(away.status, 503);
  for (const text of [away.text, readiness]) assert.doesNotMatch(text, /127\.0\.0\.1|s3:|calls|ECONNREFUSED[^)]*\d{4}/);
  for (const text of [...answers.map((answer) => answer.text), away.text, readiness, shown, service.logText()])
    assert.doesNotMatch(text, SECRETS);
});
