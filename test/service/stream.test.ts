import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { openService, type ServiceAccount, type TestService, temporaryFolder } from '../fixtures/service.ts';
import { framesOf, type StreamFrame } from '../fixtures/stream.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, testAuthority } from '../fixtures/webhooks/receiver.ts';

const METADATA = '{ "order": 12345678901234567890 }';

type Follower = {
  frames: StreamFrame[];
  status: number;
  /** Resolves to the first frame that fits. */
  find(what: string, fits: (frame: StreamFrame) => boolean): Promise<StreamFrame>;
  ended: Promise<void>;
  close(): void;
};

async function follow(service: TestService, key: string, query = '', lastId = ''): Promise<Follower> {
  const cut = new AbortController();
  const headers = { 'x-api-key': key, ...(lastId && { 'last-event-id': lastId }) };
  const answer = await fetch(`${service.baseUrl}/v1/stream${query}`, { headers, signal: cut.signal });
  const frames: StreamFrame[] = [];
  const read = async () => {
    for await (const frame of framesOf(answer.body!)) frames.push(frame);
  };
  return {
    frames,
    status: answer.status,
    find: (what, fits) => until(what, () => frames.find(fits)),
    ended: read().catch(() => undefined),
    close: () => cut.abort(),
  };
}

async function ask(service: TestService, key: string, method: string, route: string, body?: object) {
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
  return { status: answer.status, text, json: text === '' ? null : (JSON.parse(text) as any) };
}

async function submit(service: TestService, { key }: ServiceAccount): Promise<string> {
  const form = new FormData();
  form.append('metadata', METADATA);
  form.append('async', 'true');
  form.append('file', new Blob([Uint8Array.from(toneWav('hello world'))]), 'a.wav');
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  return ((await answer.json()) as { id: string }).id;
}

test('the stream of an account, on a running service', async (t) => {
  await using receiver = await openReceiver();
  const dataDir = temporaryFolder();
  const caFile = path.join(dataDir, 'receiver-ca.pem');
  writeFileSync(caFile, testAuthority.cert);
  const settings = {
    ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${receiver.port}`,
    NODE_EXTRA_CA_CERTS: caFile,
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_RESEND: 'off',
  };
  await using service = await openService(settings, dataDir);
  const account = await service.account();
  const other = await service.account();
  const webhook = await ask(service, account.key, 'POST', '/v1/webhooks', {
    url: receiver.url,
    events: ['transcription.completed', 'transcription.failed'],
  });
  assert.equal(webhook.status, 201, webhook.text);
  let firstEvent: StreamFrame | null = null;

  await t.test('a job is reported as it goes, its event with the exact body, and the delivery', async () => {
    const stream = await follow(service, account.key);
    const hello = await stream.find('hello', ({ event }) => event === 'hello');
    const foreign = await follow(service, other.key);
    await foreign.find('hello', ({ event }) => event === 'hello');
    const id = await submit(service, account);

    const event = await stream.find('the event', (frame) => frame.event === 'event');
    const delivery = await stream.find('the delivery', (frame) => frame.event === 'delivery');
    await stream.find('the end of the job', (frame) => frame.event === 'job' && frame.data.completed_at !== null);
    const jobs = stream.frames.filter(({ event }) => event === 'job').map(({ data }) => data);
    const sent = await until('the delivery', () => receiver.requests[0]);

    assert.equal(hello.data.account, account.id);
    assert.equal(event.id, event.data.id);
    assert.equal(event.data.body, sent.body.toString());
    assert.ok(event.data.body.includes(`"metadata":${METADATA}`));
    assert.equal(event.data.sha256, createHash('sha256').update(sent.body).digest('hex'));
    assert.deepEqual([delivery.data.event_id, delivery.data.status], [event.data.id, 'succeeded']);
    assert.ok(jobs.every((job) => job.id === id && !('segments' in job)));
    assert.ok(['completed', 'failed'].includes(jobs.at(-1)!.status));
    assert.deepEqual(
      foreign.frames.filter(({ event }) => event !== 'hello'),
      [],
    );
    firstEvent = event;
    stream.close();
    foreign.close();
  });

  await t.test('an event that is sent again is a resend', async () => {
    const stream = await follow(service, account.key, '?topics=events');
    await stream.find('hello', ({ event }) => event === 'hello');
    const log = await ask(service, account.key, 'GET', `/v1/webhooks/${webhook.json.id}/deliveries`);
    const path = `/v1/webhooks/${webhook.json.id}/deliveries/${log.json.data[0].id}/redeliver`;
    assert.equal((await ask(service, account.key, 'POST', path)).status, 202);

    const resend = await stream.find('the resend', ({ event }) => event === 'resend');

    const { webhook_id: webhookId, delivery_id: deliveryId, ...same } = resend.data;
    assert.deepEqual([webhookId, same], [webhook.json.id, firstEvent!.data]);
    const attempt = await ask(service, account.key, 'GET', `/v1/webhooks/${webhookId}/deliveries/${deliveryId}`);
    assert.deepEqual([attempt.json.event_id, attempt.json.attempt], [firstEvent!.id, 1]);
    assert.deepEqual(
      stream.frames.map(({ event }) => event),
      ['hello', 'resend'],
    );
    stream.close();
  });

  await t.test('what came while the client was away is sent to it, by event id and by time', async () => {
    await submit(service, account);
    const later = await follow(service, account.key, '?topics=events', firstEvent!.id!);
    const second = await later.find(
      'the second event',
      ({ event, data }) => event === 'event' && data.id !== firstEvent!.id,
    );
    const byTime = await follow(service, account.key, `?topics=events&after=${second.data.created_at}`);
    await byTime.find('the second event', ({ data }) => data.id === second.data.id);
    const old = await follow(service, account.key, '?topics=events&after=evt_00000000000000000000000000');
    const gap = await old.find('the gap', ({ event }) => event === 'gap');
    await old.find('the first event', ({ data }) => data.id === firstEvent!.id);

    assert.deepEqual(gap.data, { from: 'evt_00000000000000000000000000', oldest_id: firstEvent!.id });
    assert.ok(!later.frames.some(({ event }) => event === 'gap'));
    for (const stream of [later, byTime, old]) stream.close();
  });

  await t.test('only the types asked for are sent', async () => {
    const failed = await follow(service, account.key, '?topics=events&types=transcription.failed&after=2020-01-01');
    const completed = await follow(
      service,
      account.key,
      '?topics=events&types=transcription.completed&after=2020-01-01',
    );
    const all = await follow(service, account.key, '?topics=events&after=2020-01-01');
    await all.find('the first event', ({ data }) => data.id === firstEvent!.id);
    const mine = firstEvent!.data.type === 'transcription.failed' ? failed : completed;
    const theirs = mine === failed ? completed : failed;
    await mine.find('the first event', ({ data }) => data.id === firstEvent!.id);

    assert.deepEqual(
      theirs.frames.map(({ event }) => event),
      ['hello', 'gap'],
    );
    for (const stream of [failed, completed, all]) stream.close();
  });

  await t.test('a wrong request is refused', async () => {
    const cases = [
      ['?topics=event', 'topics'],
      ['?topics=', 'topics'],
      ['?types=a', 'types'],
      ['?after=yesterday', 'after'],
      ['?after=wh_00000000000000000000000000', 'after'],
      ['?before=now', 'before'],
    ];
    for (const [query, param] of cases) {
      const { status, json } = await ask(service, account.key, 'GET', `/v1/stream${query}`);
      assert.deepEqual([query, status, json.error.param], [query, 400, param]);
    }
  });

  await t.test('a key reads the topics of its scopes only', async () => {
    const make = async (scopes: string[]) => (await ask(service, account.key, 'POST', '/v1/keys', { scopes })).json.key;
    const jobs = await make(['jobs:read']);
    const none = await make(['usage:read']);
    const refused = await ask(service, jobs, 'GET', '/v1/stream?topics=jobs,events');
    const nothing = await ask(service, none, 'GET', '/v1/stream');
    const stream = await follow(service, jobs, '?after=2020-01-01');
    await stream.find('a job', ({ event }) => event === 'job');

    assert.deepEqual([refused.status, refused.json.required_scope], [403, 'webhooks:read']);
    assert.equal(nothing.status, 403);
    assert.deepEqual([...new Set(stream.frames.map(({ event }) => event))].sort(), ['gap', 'hello', 'job']);
    stream.close();
  });

  await t.test('a stream ends within two seconds of its key, with a last word', async () => {
    const made = (await ask(service, account.key, 'POST', '/v1/keys', {})).json;
    const stream = await follow(service, made.key);
    await stream.find('hello', ({ event }) => event === 'hello');
    const elapsedMs = machineTime();
    await ask(service, account.key, 'DELETE', `/v1/keys/${made.id}`);
    await stream.ended;
    const tookMs = elapsedMs();

    assert.ok(tookMs < 2_000, `${tookMs} ms`);
    assert.deepEqual(stream.frames.at(-1), { event: 'bye', id: null, data: { reason: 'key_ended' } });
  });

  await t.test('an account has ten streams at most; one that ends makes place for another', async () => {
    const open = await Promise.all(Array.from({ length: 10 }, () => follow(service, other.key)));
    const refused = await ask(service, other.key, 'GET', '/v1/stream');
    const elsewhere = await follow(service, account.key);
    open[0]!.close();
    const again = await until('a place', async () => {
      const stream = await follow(service, other.key);
      return stream.status === 200 ? stream : null;
    });

    assert.deepEqual([refused.status, refused.json.error.type], [429, 'rate_limited']);
    assert.ok(refused.json.retry_after >= 1);
    assert.equal(elsewhere.status, 200);
    for (const stream of [...open, elsewhere, again]) stream.close();
  });

  await t.test('a stop of the service ends the streams with bye', async () => {
    const stream = await follow(service, account.key);
    await stream.find('hello', ({ event }) => event === 'hello');
    await service.stop();
    await stream.ended;

    assert.deepEqual(stream.frames.at(-1)?.data, { reason: 'stopping' });
  });
});
