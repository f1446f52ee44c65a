import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { makeId } from '../../src/platform/clock.ts';
import { EVENT_TYPES } from '../../src/webhooks/events/event-types.ts';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver, type Reply } from '../fixtures/webhooks/receiver.ts';
import { openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

// All tests of this file share one service; each test has its own account and path at the receiver.
let receiver: Receiver;
let environment: Awaited<ReturnType<typeof openWebhookService>>;
let node: TestService;
const replies = new Map<string, () => Reply>();

before(async () => {
  receiver = await openReceiver({ reply: ({ path }) => replies.get(path)?.() ?? { status: 200 } });
  environment = await openWebhookService([receiver.port], { WEBHOOK_RETRY_DELAYS: '0,0.1,0.1,60', LOG_LEVEL: 'debug' });
  node = await environment.start('api,deliverer');
});

after(async () => {
  await environment[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

type Entry = { id: string; status: string; attempt: number; completed_at: string; duration_ms: number };

async function openHook(more: object, reply: () => Reply = () => ({ status: 200 })) {
  const caller = await environment.caller(node);
  const place = `/${makeId('wh')}`;
  replies.set(place, reply);
  const url = new URL(place, receiver.url).href;
  const hook = await caller.webhook(url, { ...more });
  const received = (count: number) =>
    until(`${count} requests`, () => {
      const requests = receiver.requests.filter((request) => request.path === place);
      return requests.length >= count ? requests : null;
    });
  const entries = (count: number, query: string) =>
    until(`${count} entries ${query}`, async () => {
      const { data } = (await caller.call('GET', `${hook.path}/deliveries?limit=100&${query}`)).json as {
        data: Entry[];
      };
      return data.length >= count ? data : null;
    });
  return { ...caller, hook, received, entries };
}

test("own headers are sent at each attempt; the delivery log and the service's log have their names only", async () => {
  const headers = { Authorization: 'Bearer 8f14e45fceea', 'X-Tenant': 'ac me; "1"' };
  const { call, emit, hook, received, entries } = await openHook({ headers }, () => ({ status: 503 }));

  await emit();
  const attempts = await received(3);
  const [entry] = await entries(3, 'status=failed');
  const full = await call('GET', `${hook.path}/deliveries/${entry!.id}`);
  await call('PATCH', hook.path, { headers: { 'X-Other': 'b' } });
  await call('POST', `${hook.path}/test`);
  const [, , , changed] = await received(4);

  for (const { headers: sent, rawHeaders } of attempts) {
    assert.deepEqual([sent.authorization, sent['x-tenant']], [headers.Authorization, headers['X-Tenant']]);
    assert.equal(rawHeaders.includes('X-Tenant'), true);
  }
  const logged = full.json.request.headers;
  assert.deepEqual([logged.Authorization, logged['X-Tenant']], ['[redacted]', '[redacted]']);
  assert.equal(logged['X-Service-Attempt'], '3');
  assert.deepEqual([changed!.headers['x-other'], changed!.headers.authorization], ['b', undefined]);
  const tables = ['webhooks', 'events', 'attempts', 'audit_log', 'idempotency_keys'];
  const dumps = tables.map((table) => `select coalesce(string_agg(t::text, ''), '') as text from ${table} t`);
  const rows = await Promise.all(dumps.map((text) => environment.db.rows<{ text: string }>({ text })));
  assert.equal(/8f14e45fceea|ac me/.test(node.logText() + JSON.stringify(rows)), false);
});

test('a webhook with a limit of 5 per second is sent 13 events over two seconds, each by its first attempt', async () => {
  const { emit, entries } = await openHook({ max_per_second: 5 });
  // The limit of a deliverer begins a second after it has started.
  await emit();
  await entries(1, 'status=succeeded');

  await Promise.all(Array.from({ length: 13 }, () => emit()));
  const made = await entries(14, 'status=succeeded');

  assert.deepEqual([...new Set(made.map(({ attempt }) => attempt))], [1]);
  const startsMs = made.map((entry) => Date.parse(entry.completed_at) - entry.duration_ms).sort((a, b) => a - b);
  // An attempt starts a little after the scheduler has chosen it.
  const shortSpans = startsMs.slice(5).map((atMs, index) => atMs - startsMs[index]!);
  assert.ok(Math.min(...shortSpans) > 750, `started at ${startsMs.map((atMs) => atMs - startsMs[0]!).join()}`);
});

test('a webhook without text gets signed bodies that say so, the same at each attempt and in the log, until it is changed', async () => {
  const { call, hook, received, entries } = await openHook({ include: [] }, () => ({ status: 503 }));

  await call('POST', `${hook.path}/test`, { type: 'transcription.completed' });
  const [first, second] = await received(3);
  const [entry] = await entries(1, 'status=failed');
  const logged = await call('GET', `${hook.path}/deliveries/${entry!.id}`);
  const diagnosed = await call('POST', `${hook.path}/diagnose`, {
    headers: Object.fromEntries(Object.entries(first!.headers).map(([name, value]) => [name, String(value)])),
    body: String(first!.body),
  });
  const changed = await call('PATCH', hook.path, { include: ['text', 'text'] });
  await call('POST', `${hook.path}/test`, { type: 'transcription.completed' });
  const after = (await received(4)).at(-1)!;

  verifyDelivery({ secret: hook.secret, headers: first!.headers, body: first!.body });
  const { job } = JSON.parse(String(first!.body)).data;
  assert.deepEqual(
    [job.text, job.segments, job.text_omitted, job.segments_omitted],
    [undefined, undefined, true, true],
  );
  assert.deepEqual([String(second!.body), logged.json.request.body], [String(first!.body), String(first!.body)]);
  assert.equal(diagnosed.json.verdict, 'genuine');
  assert.deepEqual(changed.json.include, ['text']);
  const later = JSON.parse(String(after.body)).data.job;
  assert.deepEqual([typeof later.text, later.segments_omitted], ['string', true]);
});

for (const type of EVENT_TYPES) {
  test(`a test of ${type} arrives, signed, with that type in header and body`, async () => {
    const { call, hook, received } = await openHook({});

    const { json } = await call('POST', `${hook.path}/test`, { type });
    const [request] = await received(1);

    const event = verifyDelivery({ secret: hook.secret, headers: request!.headers, body: request!.body });
    assert.deepEqual([event.id, event.type, request!.headers['x-service-event-type']], [json.event_id, type, type]);
  });
}
