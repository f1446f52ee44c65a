import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Received, testAuthority } from '../fixtures/webhooks/receiver.ts';

// Webhooks of single jobs, through a running service.
const receiver = await openReceiver({
  reply: ({ path: place, headers }) => ({
    status: place.startsWith('/flaky') && headers['x-service-attempt'] === '1' ? 503 : 204,
  }),
});
const dataDir = temporaryFolder();
const caFile = path.join(dataDir, 'receiver-ca.pem');
writeFileSync(caFile, testAuthority.cert);
const service = await openService(
  {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    RATE_LIMIT_TRANSCRIBE: 'off',
    WEBHOOK_RETRY_DELAYS: '0,0.2,1,1',
  },
  dataDir,
);
after(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const { key } = await service.account({ plan: 'pro' });

async function call(method: string, route: string, body?: FormData | object) {
  const isJson = body !== undefined && !(body instanceof FormData);
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(isJson && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as FormData) }),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, json: (text === '' ? null : JSON.parse(text)) as any };
}

async function transcribe(fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(toneWav('hello'))]), 'tone.wav');
  return await call('POST', '/v1/transcribe', form);
}

const at = (place: string) => receiver.requests.filter((request) => request.path === place);
const verify = ({ headers, body }: Received, secret: string) => verifyDelivery({ headers, body, secret });
const urlOf = (place: string) => new URL(place, receiver.url).href;

test("a job's webhook gets its event as a webhook of the account does, and is in no list", async () => {
  const ofAccount = await call('POST', '/v1/webhooks', { url: urlOf('/all'), events: ['transcription.completed'] });
  const { json: job } = await transcribe({ webhook_url: urlOf('/one'), metadata: '{"n":1.0}' });
  await transcribe();
  await until('both events', () => at('/all').length === 2 && at('/one').length === 1);

  const [one] = at('/one');
  assert.deepEqual(verify(one!, job.webhook_secret), verify(at('/all')[0]!, ofAccount.json.secret));
  assert.deepEqual(one!.body, at('/all')[0]!.body);
  assert.match(one!.body.toString(), new RegExp(`"metadata":\\{"n":1\\.0\\}.*${job.id}`));

  const id = job.id.replace('job_', 'whj_');
  const list = (await call('GET', '/v1/webhooks')).json.data;
  assert.deepEqual(
    list.map((webhook: { id: string }) => webhook.id),
    [ofAccount.json.id],
  );
  const shown = (await call('GET', `/v1/webhooks/${id}`)).json;
  assert.deepEqual([shown.job_id, shown.url, shown.secret], [job.id, urlOf('/one'), undefined]);
  for (let free = 4; free > 0; free--) {
    const more = await call('POST', '/v1/webhooks', { url: urlOf('/more'), events: ['webhook.test'] });
    assert.equal(more.status, 201);
  }
});

test('a delivery that fails is attempted again, and the log shows it under the job and over all', async () => {
  const { json: job } = await transcribe({ webhook_url: urlOf('/flaky') });
  await until('the deliveries', () => at('/flaky').length === 2);
  const id = job.id.replace('job_', 'whj_');
  const log = async (route: string) =>
    (await call('GET', route)).json.data
      .filter((entry: { webhook_id: string }) => entry.webhook_id === id)
      .map(({ attempt, status, url }: { attempt: number; status: string; url: string }) => [attempt, status, url]);
  await until('the log', async () => (await log(`/v1/deliveries?job_id=${job.id}`)).length === 2);

  const expected = [
    [2, 'succeeded', urlOf('/flaky')],
    [1, 'failed', urlOf('/flaky')],
  ];
  for (const route of [`/v1/deliveries?job_id=${job.id}`, '/v1/deliveries', `/v1/webhooks/${id}/deliveries`]) {
    assert.deepEqual(await log(route), expected, route);
  }
  assert.deepEqual(await log(`/v1/deliveries?job_id=${job.id}&status=failed`), expected.slice(1));
  assert.deepEqual((await call('GET', '/v1/deliveries?job_id=job_unknown')).json.data, []);

  const [entry] = (await call('GET', `/v1/deliveries?job_id=${job.id}&attempt=2`)).json.data;
  const again = await call('POST', `/v1/webhooks/${id}/deliveries/${entry.id}/redeliver`);
  assert.deepEqual([again.status, again.json.event_id], [202, entry.event_id]);
  await until('the deliveries', () => at('/flaky').length === 4);
});

test('nothing more is sent to the webhook of an erased job', async () => {
  const { json: job } = await transcribe({ webhook_url: urlOf('/gone') });
  await until('the deliveries', () => at('/gone').length === 1);

  assert.equal((await call('DELETE', `/v1/jobs/${job.id}`)).status, 204);

  assert.equal((await call('GET', `/v1/webhooks/${job.id.replace('job_', 'whj_')}`)).status, 404);
});
