import assert from 'node:assert/strict';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { LiveClient } from '../fixtures/live-client.ts';
import { until } from '../fixtures/until.ts';

/** Where the receiver was, as it stands in a dump; a test puts its own in its place. */
export const RECEIVER = '127.0.0.1:65001';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Json = any;

/** What a test has to know of the data of a version. */
export type Made = {
  account: string;
  key: string;
  /** Jobs that had ended, by state, and those that were accepted and had not ended. */
  jobs: { completed: string[]; failed: string[]; open: string[] };
  webhooks: { good: string; failing: string };
  /** A live session with half of its audio acknowledged. */
  live: { path: string; token: string };
  /** What GET answered, by path, before the version was killed. */
  answers: Record<string, Json>;
};

// The texts that the tone model reads in the audio.
const TEXTS = ['first call', 'second call', 'third call'];
/** The texts of the two halves of the live session. */
export const LIVE_TEXTS = ['half of it', 'the other'];

export type ApiOf = { baseUrl: string; key: string };

/** Calls the API; throws unless the answer has the status. */
export async function call({ baseUrl, key }: ApiOf, method: string, route: string, body?: unknown): Promise<Json> {
  const isRaw = body === undefined || body instanceof FormData;
  const answer = await fetch(baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(!isRaw && { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isRaw ? (body as FormData) : JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${route} answered ${answer.status}: ${text}`);
  return answer.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
}

/** Uses a version as its clients do, until some jobs and deliveries have ended and others have not. */
export async function makeData(service: { baseUrl: string; adminToken: string; receiverPort: number }): Promise<Made> {
  const { account, key } = await makeAccount(service);
  const api = { baseUrl: service.baseUrl, key };
  const receiver = `https://127.0.0.1:${service.receiverPort}`;
  const events = ['transcription.completed', 'transcription.failed'];
  const good = await call(api, 'POST', '/v1/webhooks', { url: `${receiver}/good`, events });
  const failing = await call(api, 'POST', '/v1/webhooks', { url: `${receiver}/failing`, events, description: 'CRM' });
  const completed: string[] = [];
  for (const text of TEXTS) completed.push(idOf(await call(api, 'POST', '/v1/transcribe', upload(text))));
  await call(api, 'PATCH', `/v1/jobs/${completed[0]}/transcript`, { segments: [{ index: 0, text: 'an edited call' }] });
  const failed = idOf(await call(api, 'POST', '/v1/transcribe', { audio_url: `${receiver}/missing.wav`, async: true }));
  await until(
    'the job to fail',
    async () => (await call(api, 'GET', `/v1/jobs/${failed}`)).status === 'failed',
    30_000,
  );
  await until(
    'each event to have an attempt at the failing webhook',
    async () => (await call(api, 'GET', `/v1/webhooks/${failing.id}/deliveries`)).data.length >= TEXTS.length + 1,
    30_000,
  );
  const live = await beginLive(api);
  const answers = await readAnswers(api, [...completed, failed], [good.id, failing.id]);
  const open: string[] = [];
  for (const letter of 'abcdef')
    open.push(
      idOf(
        await call(
          api,
          'POST',
          '/v1/transcribe',
          upload(`a long call that has to wait until the others have ended ${letter}`, true),
        ),
      ),
    );
  return {
    account,
    key,
    jobs: { completed, failed: [failed], open },
    webhooks: { good: good.id, failing: failing.id },
    live,
    answers,
  };
}

async function makeAccount({ baseUrl, adminToken }: { baseUrl: string; adminToken: string }) {
  const post = async (route: string, body: object): Promise<Json> => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const answer = await fetch(baseUrl + route, { method: 'POST', headers, body: JSON.stringify(body) });
    assert.equal(answer.status, 201, route);
    return await answer.json();
  };
  const { id } = await post('/admin/v1/accounts', { name: 'Example', plan: 'pro', credits: 100 });
  const { key } = await post(`/admin/v1/accounts/${id}/keys`, { name: 'first' });
  await post(`/admin/v1/accounts/${id}/keys`, { name: 'reader', scopes: ['jobs:read'] });
  await post('/admin/v1/accounts', { name: 'Other', plan: 'lite', credits: null });
  return { account: id as string, key: key as string };
}

/** A form with audio that the tone model reads as the text. */
function upload(text: string, isAsync = false): FormData {
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(toneWav(text))]), 'tone.wav');
  form.append('timestamps', 'word');
  form.append('metadata', JSON.stringify({ call: text }));
  if (isAsync) form.append('async', 'true');
  return form;
}

/** One half of the audio of a live session. */
export function liveAudio(half: 0 | 1): Uint8Array {
  const { buffer, byteOffset, byteLength } = toneSpeech(LIVE_TEXTS[half]!);
  return Buffer.concat([new Uint8Array(buffer, byteOffset, byteLength), new Uint8Array(64_000)]);
}

async function beginLive(api: ApiOf): Promise<Made['live']> {
  const answer = await fetch(`${api.baseUrl}/v1/live`, { method: 'POST', headers: { 'x-api-key': api.key } });
  if (answer.status !== 201) throw new Error(`POST /v1/live answered ${answer.status}: ${await answer.text()}`);
  const created = (await answer.json()) as Made['live'];
  const client = new LiveClient(api.baseUrl, created);
  await client.connect();
  client.send(liveAudio(0));
  await until('the first half to be acknowledged', () => client.acknowledged >= liveAudio(0).length, 30_000);
  return { path: created.path, token: created.token };
}

/** What a test compares: each page of what has ended. */
async function readAnswers(api: ApiOf, jobs: string[], webhooks: string[]): Promise<Record<string, Json>> {
  const routes = [
    ...['/v1/account', '/v1/keys', '/v1/webhooks', '/v1/usage', '/v1/ledger'],
    ...jobs.map((id) => `/v1/jobs/${id}`),
    ...jobs
      .slice(0, -1)
      .flatMap((id) => ['', '?format=srt', '?version=original'].map((query) => `/v1/jobs/${id}/transcript${query}`)),
    ...webhooks.flatMap((id) => [`/v1/webhooks/${id}`, `/v1/webhooks/${id}/deliveries`]),
    ...['/v1/events', '/v1/search?q=call', '/v1/jobs?status=completed', '/v1/jobs?status=failed'],
  ];
  const answers: Record<string, Json> = {};
  for (const route of routes) answers[route] = await call(api, 'GET', route);
  return answers;
}

/** Of a job, or of the answer to an upload that was accepted. */
function idOf(answer: Json): string {
  return answer.id ?? answer.job_id;
}
