import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACEPARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const ANSWER = { body: JSON.stringify({ text: 'one call', language: 'english', duration: 1 }) };

type Line = Record<string, unknown> & { msg: string };

/** The lines of the log that have a text somewhere. */
function grep(service: TestService, text: string): Line[] {
  const lines = service.logText().split('\n');
  return lines.filter((line) => line.includes(text)).map((line) => JSON.parse(line) as Line);
}

async function openTraced(receiver: Receiver, speechUrl: string): Promise<TestService> {
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const env = {
    ENGINE_LITE: `openai:${speechUrl}`,
    ENGINE_PRO: `openai:${speechUrl}`,
    LOG_LEVEL: 'debug',
    WEBHOOK_RETRY_DELAYS: '0,0.1,0.1,0.1',
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
  };
  return await openService(env, dataDir);
}

async function post(service: TestService, key: string, route: string, body: FormData | object, traceparent?: string) {
  const isForm = body instanceof FormData;
  const answer = await fetch(service.baseUrl + route, {
    method: 'POST',
    headers: {
      'x-api-key': key,
      ...(!isForm && { 'content-type': 'application/json' }),
      ...(traceparent !== undefined && { traceparent }),
    },
    body: isForm ? body : JSON.stringify(body),
  });
  assert.ok(answer.ok, await answer.clone().text());
  return { id: ((await answer.json()) as { id: string }).id, requestId: answer.headers.get('x-request-id') };
}

function upload(): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(toneWav('one call'))]), 'a.wav');
  form.append('async', 'true');
  return form;
}

test('one grep for the id of a job finds its request, its end and each attempt, with all ids', async () => {
  await using receiver = await openReceiver({ reply: (_request, index) => ({ status: index === 0 ? 500 : 204 }) });
  await using speech = await openSpeechServer(ANSWER);
  await using service = await openTraced(receiver, speech.baseUrl);
  const { key } = await service.account();
  await post(service, key, '/v1/webhooks', { url: receiver.url, events: ['transcription.completed'] });

  const job = await post(service, key, '/v1/transcribe', upload(), TRACEPARENT);
  await receiver.waitFor(2);
  const lines = await until('the lines of the job', () => {
    const found = grep(service, job.id);
    return found.length >= 4 ? found : null;
  });

  const [request, end, failed, succeeded] = lines as [Line, Line, Line, Line];
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['request', 'job', 'attempt', 'attempt'],
  );
  assert.deepEqual([request['job_id'], request['request_id']], [job.id, job.requestId]);
  const eventId = receiver.requests[0]!.headers['x-service-event-id'];
  const [deliveryId] = end['delivery_ids'] as string[];
  assert.equal(end['event_id'], eventId);
  for (const attempt of [failed, succeeded]) {
    assert.deepEqual([attempt['job_id'], attempt['event_id'], attempt['delivery_id']], [job.id, eventId, deliveryId]);
  }
  const sent = receiver.requests.map(({ headers }) => headers['x-service-delivery-id']);
  assert.deepEqual([failed['attempt_id'], succeeded['attempt_id']], sent);
  assert.deepEqual(
    grep(service, TRACE_ID).map((line) => [line.msg, line['trace_id']]),
    lines.map(({ msg }) => [msg, TRACE_ID]),
  );
});

test('the trace of a request goes to the speech server and to the receivers', async () => {
  await using receiver = await openReceiver();
  await using speech = await openSpeechServer(ANSWER);
  await using service = await openTraced(receiver, speech.baseUrl);
  const { key } = await service.account();
  await post(service, key, '/v1/webhooks', { url: receiver.url, events: ['transcription.completed'] });

  await post(service, key, '/v1/transcribe', upload(), TRACEPARENT);
  await receiver.waitFor(1);
  await post(service, key, '/v1/transcribe', upload(), '00-not-a-trace-01');
  await receiver.waitFor(2);
  await post(service, key, '/v1/transcribe', upload());
  await receiver.waitFor(3);

  const ofReceiver = receiver.requests.map(({ headers }) => headers['traceparent']);
  assert.deepEqual(ofReceiver, [TRACEPARENT, undefined, undefined]);
  assert.deepEqual([...new Set(speech.requests.map(({ traceparent }) => traceparent))], [TRACEPARENT, undefined]);
});
