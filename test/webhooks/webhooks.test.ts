import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { makeId } from '../../src/platform/clock.ts';
import { shardOf } from '../../src/rules/shard.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Received, type Receiver, type Reply } from '../fixtures/webhooks/receiver.ts';
import { type Caller, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

// All tests of this file share one service; each test has its own accounts and paths at the receiver.
const DELAYS_SECONDS = '0,0.1,0.1,60';
const ENTRY_KEYS = [
  ...['id', 'webhook_id', 'event_id', 'event_type', 'url', 'attempt', 'status', 'response_status', 'error'],
  ...['duration_ms', 'timings', 'created_at', 'completed_at', 'next_attempt_at'],
];

let receiver: Receiver;
/** Used by one test only, so that no connection is open when the test begins. */
let unvisited: Receiver;
let environment: Awaited<ReturnType<typeof openWebhookService>>;
let node: TestService;
const replies = new Map<string, (request: Received) => Reply | Promise<Reply>>();
const secrets: string[] = [];

before(async () => {
  receiver = await openReceiver({ reply: (request) => replies.get(request.path)?.(request) ?? { status: 200 } });
  unvisited = await openReceiver({
    reply: () => ({ status: 500, headers: { 'x-note': 'hi' }, body: `${'é'.repeat(2048)}more` }),
  });
  environment = await openWebhookService([receiver.port, unvisited.port], {
    WEBHOOK_RETRY_DELAYS: DELAYS_SECONDS,
    LOG_LEVEL: 'debug',
  });
  node = await environment.start('api,deliverer');
});

after(async () => {
  await environment[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  await unvisited[Symbol.asyncDispose]();
});

type Entry = { id: string; status: string; attempt: number; event_id: string; url: string; next_attempt_at: string };

/** An account with a webhook at its own path, with functions that read the requests at the path. */
async function openHook(reply: (request: Received) => Reply | Promise<Reply> = () => ({ status: 200 }), more = {}) {
  const caller = await environment.caller(node);
  const place = `/${makeId('wh')}`;
  replies.set(place, reply);
  const url = new URL(place, receiver.url).href;
  const hook = await caller.webhook(url, more);
  secrets.push(hook.secret);
  const received = (count: number) =>
    until(`${count} requests`, () => {
      const requests = receiver.requests.filter((request) => request.path === place);
      return requests.length >= count ? requests : null;
    });
  const list = async (query = '') =>
    (await caller.call('GET', `${hook.path}/deliveries${query}`)).json as { data: Entry[]; next_cursor: string | null };
  const entries = (count: number, query = '') =>
    until(`${count} entries ${query}`, async () => {
      const { data } = await list(query);
      return data.length >= count ? data : null;
    });
  return { ...caller, hook, url, place, received, list, entries };
}

test('every endpoint answers unknown, malformed and foreign ids in the same way', async () => {
  const owner = await openHook();
  await owner.call('POST', `${owner.hook.path}/test`);
  const [entry] = await owner.entries(1, '?status=succeeded');
  const stranger = await environment.caller(node);
  const unknown = { wh: `wh_${'0'.repeat(26)}`, dlv: `dlv_${'0'.repeat(26)}`, evt: `evt_${'0'.repeat(26)}` };
  const endpoints = (wh: string, dlv: string, evt: string): [string, string, unknown?][] => [
    ['GET', `/v1/webhooks/${wh}`],
    ['PATCH', `/v1/webhooks/${wh}`, { active: false }],
    ['DELETE', `/v1/webhooks/${wh}`],
    ['POST', `/v1/webhooks/${wh}/test`],
    ['POST', `/v1/webhooks/${wh}/rotate-secret`],
    ['GET', `/v1/webhooks/${wh}/deliveries`],
    ['GET', `/v1/webhooks/${wh}/metrics`],
    ['POST', `/v1/webhooks/${wh}/diagnose`, { headers: {}, body: '' }],
    ['POST', `/v1/webhooks/${wh}/redeliver`, { delivery_ids: [dlv] }],
    ['GET', `/v1/webhooks/${wh}/deliveries/${dlv}`],
    ['POST', `/v1/webhooks/${wh}/deliveries/${dlv}/redeliver`],
    ['POST', `/v1/webhooks/${wh}/recover`, { since: '2026-01-01T00:00:00Z' }],
    ['POST', `/v1/webhooks/${wh}/recover`, { since: '2026-01-01T00:00:00Z', dry_run: true }],
    ['GET', `/v1/events/${evt}`],
  ];
  const answersTo = (caller: Caller, ...ids: [string, string, string]) =>
    Promise.all(
      endpoints(...ids).map(async ([method, route, body]) => {
        const answer = await caller.call(method, route, body);
        return [
          method,
          route.replaceAll(/(wh|dlv|evt|x)_?[0-9a-z]{26}|\bx\b/g, ':id'),
          answer.status,
          answer.json.error,
        ];
      }),
    );

  const foreign = await answersTo(stranger, owner.hook.id, entry!.id, entry!.event_id);
  const never = await answersTo(stranger, unknown.wh, unknown.dlv, unknown.evt);
  const malformed = await answersTo(stranger, 'x', 'x', 'x');

  assert.deepEqual(foreign, never);
  assert.deepEqual(malformed, never);
  assert.ok(never.every(([, , status, error]) => status === 404 && error.type === 'not_found'));
  assert.equal((await owner.call('GET', owner.hook.path)).json.active, true);
});

const CREATE = { url: 'https://127.0.0.1/', events: ['webhook.test'] };
const REFUSED: [string, string, unknown, string | undefined][] = [
  ['POST', '/v1/webhooks', '', 'url'],
  ['POST', '/v1/webhooks', [], undefined],
  ['POST', '/v1/webhooks', '{', undefined],
  ['POST', '/v1/webhooks', { ...CREATE, url: 1 }, 'url'],
  ['POST', '/v1/webhooks', { ...CREATE, url: null }, 'url'],
  ['POST', '/v1/webhooks', { ...CREATE, url: `https://a.example/${'a'.repeat(2048)}` }, 'url'],
  ['POST', '/v1/webhooks', { ...CREATE, events: 'webhook.test' }, 'events'],
  ['POST', '/v1/webhooks', { ...CREATE, events: [] }, 'events'],
  ['POST', '/v1/webhooks', { ...CREATE, events: ['webhook.test', 'job.done'] }, 'events'],
  ['POST', '/v1/webhooks', { ...CREATE, events: [null] }, 'events'],
  ['POST', '/v1/webhooks', { ...CREATE, description: 5 }, 'description'],
  ['POST', '/v1/webhooks', { ...CREATE, description: 'x'.repeat(501) }, 'description'],
  ['POST', '/v1/webhooks', { ...CREATE, description: 'a\u0000' }, 'description'],
  ['POST', '/v1/webhooks', { ...CREATE, active: true }, 'active'],
  ['POST', '/v1/webhooks', { ...CREATE, secret: 'mine' }, 'secret'],
  ['GET', '/v1/webhooks?state=active', undefined, 'state'],
  ['GET', '/v1/webhooks?limit=0', undefined, 'limit'],
  ['GET', '/v1/webhooks?cursor=x', undefined, 'cursor'],
  ['GET', `/v1/webhooks?cursor=job_${'0'.repeat(26)}`, undefined, 'cursor'],
  ['GET', '/v1/webhooks?cursor=1', undefined, 'cursor'],
  ['PATCH', ':hook', undefined, undefined],
  ['PATCH', ':hook', {}, undefined],
  ['PATCH', ':hook', { active: null }, 'active'],
  ['PATCH', ':hook', { active: 'false' }, 'active'],
  ['PATCH', ':hook', { url: null }, 'url'],
  ['PATCH', ':hook', { events: [] }, 'events'],
  ['PATCH', ':hook', { description: false }, 'description'],
  ['PATCH', ':hook', { consecutive_failures: 0 }, 'consecutive_failures'],
  ['POST', ':hook/test', { event: 'x' }, 'event'],
  ['POST', ':hook/test', { type: 'x' }, 'type'],
  ['POST', ':hook/test?type=x', undefined, 'type'],
  ['POST', ':hook/rotate-secret', { overlap_seconds: 86_401 }, 'overlap_seconds'],
  ['POST', ':hook/rotate-secret', { overlap_seconds: -1 }, 'overlap_seconds'],
  ['POST', ':hook/rotate-secret', { overlap_seconds: 1.5 }, 'overlap_seconds'],
  ['POST', ':hook/rotate-secret', { overlap_seconds: '60' }, 'overlap_seconds'],
  ['POST', ':hook/rotate-secret', { secret: 'mine' }, 'secret'],
  ['GET', ':hook/deliveries?status=lost', undefined, 'status'],
  ['GET', ':hook/deliveries?status=failed&status=failed', undefined, 'status'],
  ['GET', ':hook/deliveries?event_type=job.done', undefined, 'event_type'],
  ['GET', ':hook/deliveries?event_id=%00', undefined, 'event_id'],
  ['GET', ':hook/deliveries?after=2026-11-31', undefined, 'after'],
  ['GET', ':hook/deliveries?before=2016-12-31T23:59:60Z', undefined, 'before'],
  ['GET', ':hook/deliveries?limit=101', undefined, 'limit'],
  ['GET', ':hook/deliveries?attempt=0', undefined, 'attempt'],
  ['POST', ':hook/recover', undefined, 'since'],
  ['POST', ':hook/recover', { since: 'yesterday' }, 'since'],
  ['POST', ':hook/recover', { since: '2016-12-31T23:59:60Z' }, 'since'],
  ['POST', ':hook/recover', { since: '2026-01-01T00:00:00Z', until: 1 }, 'until'],
  ['POST', ':hook/recover', { since: '2026-01-02T00:00:00Z', until: '2026-01-01T23:59:59.999Z' }, 'until'],
  ['GET', '/v1/events?type=job.done', undefined, 'type'],
  ['GET', '/v1/events?status=failed', undefined, 'status'],
];
test('malformed, unknown and out-of-range values are answered 400 with the name of the field', async () => {
  const { call, hook } = await openHook();

  const answers = await Promise.all(
    REFUSED.map(async ([method, route, body, param]) => {
      const answer = await call(method, route.replace(':hook', hook.path), body);
      return [method, route, param, answer.status, answer.json.error.type, answer.json.error.param];
    }),
  );

  assert.deepEqual(
    answers,
    REFUSED.map(([method, route, , param]) => [method, route, param, 400, 'invalid_request', param]),
  );
  assert.equal((await call('GET', '/v1/webhooks')).json.data.length, 1);
});

for (const [plan, limit] of [
  ['lite', 1],
  ['pro', 5],
] as const) {
  test(`50 creations at once on ${plan} make exactly ${limit}, and a disabled webhook counts too`, async () => {
    const { call } = await environment.caller(node, plan);
    const create = () => call('POST', '/v1/webhooks', { url: receiver.url, events: ['webhook.test'] });

    const answers = await Promise.all(Array.from({ length: 50 }, create));
    const made = answers.filter(({ status }) => status === 201).map(({ json }) => json);
    secrets.push(...made.map(({ secret }) => secret));
    const disabled = await call('PATCH', `/v1/webhooks/${made[0].id}`, { active: false });
    const refused = await create();
    await call('DELETE', `/v1/webhooks/${made[0].id}`);
    const fits = await create();

    assert.equal(made.length, limit);
    assert.equal(answers.filter(({ status }) => status === 403).length, 50 - limit);
    assert.equal(disabled.json.disabled_reason, 'manual');
    assert.deepEqual([refused.status, refused.json.error.type], [403, 'plan_limit']);
    assert.equal(fits.status, 201);
  });
}

test('a change affects only the given fields; disabling and enabling resets the failure count, enabling twice does not', async () => {
  const { call, hook, url, entries } = await openHook(() => ({ status: 500 }), {
    events: ['webhook.test', 'transcription.completed', 'webhook.test'],
    description: 'CRM',
  });
  const before = (await call('GET', hook.path)).json;
  await call('POST', `${hook.path}/test`);
  await entries(3, '?status=failed');

  const same = (await call('PATCH', hook.path, { active: true, description: null })).json;
  const off = (await call('PATCH', hook.path, { active: false })).json;
  const offAgain = (await call('PATCH', hook.path, { active: false, events: ['webhook.test'] })).json;
  const ping = await call('POST', `${hook.path}/test`);
  const on = (await call('PATCH', hook.path, { active: true, url: `${url}?b` })).json;

  assert.deepEqual([before.events, before.description], [['transcription.completed', 'webhook.test'], 'CRM']);
  assert.deepEqual([same.consecutive_failures, same.description, same.url], [3, null, url]);
  assert.ok(same.failing_since <= same.updated_at);
  assert.deepEqual([off.active, off.disabled_reason, off.disabled_at], [false, 'manual', off.updated_at]);
  assert.deepEqual([offAgain.disabled_at, offAgain.events], [off.disabled_at, ['webhook.test']]);
  assert.deepEqual([ping.status, ping.json.error.type], [409, 'conflict']);
  const { updated_at, ...rest } = on;
  const { updated_at: _, ...expected } = { ...before, url: `${url}?b`, events: ['webhook.test'], description: null };
  assert.deepEqual(rest, expected);
  assert.ok(updated_at > off.updated_at);
});

test('a test ping reaches only its webhook, subscribed or not, and contains the webhook', async () => {
  const { call, hook, received, url } = await openHook();
  const other = await call('POST', '/v1/webhooks', { url: `${url}?other`, events: ['webhook.test'] });

  const answer = await call('POST', `${hook.path}/test`);
  const [request] = await received(1);

  assert.equal(answer.status, 202);
  assert.deepEqual(answer.json, { event_id: request!.headers['x-service-event-id'], type: 'webhook.test' });
  const event = verifyDelivery({ secret: hook.secret, headers: request!.headers, body: request!.body });
  assert.deepEqual(event, {
    id: answer.json.event_id,
    type: 'webhook.test',
    created_at: event.created_at,
    data: { webhook: (await call('GET', hook.path)).json },
  });
  assert.equal((await call('GET', `/v1/webhooks/${other.json.id}/deliveries`)).json.data.length, 0);
});

test('after a rotation both secrets verify until the overlap ends, then only the new secret', async () => {
  const { call, hook, place } = await openHook();
  const ping = async () => {
    const { json } = await call('POST', `${hook.path}/test`);
    return await until('the ping', () =>
      receiver.requests.find((one) => one.path === place && one.headers['x-service-event-id'] === json.event_id),
    );
  };
  const verifies = (secret: string, { headers, body }: Received) => {
    try {
      return verifyDelivery({ secret, headers, body }) !== null;
    } catch {
      return false;
    }
  };

  const long = (await call('POST', `${hook.path}/rotate-secret`, { overlap_seconds: 86_400 })).json.secret;
  const during = await ping();
  const atOnce = (await call('POST', `${hook.path}/rotate-secret`)).json.secret;
  const afterZero = await ping();
  const short = (await call('POST', `${hook.path}/rotate-secret`, { overlap_seconds: 1 })).json.secret;
  const ended = await until('the end of the overlap', async () => {
    const request = await ping();
    return request.headers['x-service-signature-previous'] === undefined ? request : null;
  });
  secrets.push(long, atOnce, short);

  assert.deepEqual([verifies(hook.secret, during), verifies(long, during)], [true, true]);
  assert.deepEqual([verifies(long, afterZero), verifies(atOnce, afterZero)], [false, true]);
  assert.deepEqual([verifies(atOnce, ended), verifies(short, ended)], [false, true]);
});

test('the log shows each attempt and the waiting one; filters and pages are stable while entries are added', async () => {
  const { call, emit, hook, list, entries, url } = await openHook(() => ({ status: 503, body: 'busy' }), {
    events: ['transcription.completed', 'transcription.failed'],
  });
  const eventId = await emit();
  await entries(3, '?status=failed');
  const laterId = await emit('transcription.failed');
  await entries(6, '?status=failed');
  const all = (await list('?limit=100')).data;
  const count = async (query: string) => (await list(query)).data.length;

  const pages: Entry[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const page = await list(`?limit=3${cursor && `&cursor=${cursor}`}`);
    pages.push(...page.data);
    cursor = page.next_cursor;
    await call('POST', `${hook.path}/test`);
  }

  assert.deepEqual(pages, all);
  assert.deepEqual(
    all.map(({ event_id, attempt, status }) => [event_id, attempt, status]),
    [laterId, eventId].flatMap((id) => [[id, 4, 'pending'], ...[3, 2, 1].map((attempt) => [id, attempt, 'failed'])]),
  );
  assert.ok(all.every((entry) => entry.url === url));
  assert.deepEqual([...new Set(all.map((entry) => Object.keys(entry).join()))], [ENTRY_KEYS.join()]);
  assert.equal(all[0]!.next_attempt_at, all[1]!.next_attempt_at);
  assert.equal(all[2]!.next_attempt_at, null);
  assert.equal(await count(`?event_id=${eventId}`), 4);
  assert.equal(await count('?event_type=transcription.failed&status=pending'), 1);
  const [created, oldest] = [all[4]!, all.at(-1)!] as unknown as { created_at: string }[];
  assert.equal(await count(`?after=${oldest!.created_at}&before=${created!.created_at}`), 2);
});

test('a log entry has the exact request and answer, and the duration of each phase', async () => {
  const { call, emit, entries, hook } = await openHook();
  await call('PATCH', hook.path, { url: unvisited.url });
  await emit();
  const request = await unvisited.waitFor(1);
  const made = await entries(1, '?status=failed');
  const full = (await call('GET', `${hook.path}/deliveries/${made.at(-1)!.id}`)).json;

  const { request: sent, response, remote_address, ...entry } = full;
  assert.deepEqual(Object.keys(entry), ENTRY_KEYS);
  assert.equal(remote_address, '127.0.0.1');
  assert.equal(sent.body, request.body.toString());
  for (const [name, value] of Object.entries(sent.headers)) assert.equal(request.headers[name.toLowerCase()], value);
  assert.deepEqual([response.headers['x-note'], response.body], ['hi', 'é'.repeat(2048)]);
  assert.deepEqual(entry.error, { reason: 'http_status', message: entry.error.message });
  const { dns_ms, connect_ms, tls_ms, first_byte_ms, reused } = entry.timings;
  assert.deepEqual([dns_ms, reused], [null, false]);
  assert.ok(connect_ms > 0 && tls_ms > 0 && first_byte_ms > 0 && entry.duration_ms >= first_byte_ms);
});

test('a redelivery sends the same bytes again, as attempt 1 of a delivery of its own', async () => {
  const { call, emit, received, entries, hook } = await openHook();
  const eventId = await emit();
  const [made] = await entries(1, '?status=succeeded');

  const answer = await call('POST', `${hook.path}/deliveries/${made!.id}/redeliver`);
  const [first, second] = await received(2);
  const event = (await call('GET', `/v1/events/${eventId}`)).json;

  assert.deepEqual([answer.status, answer.json], [202, { event_id: eventId }]);
  assert.deepEqual(second!.body, first!.body);
  assert.equal(second!.headers['x-service-attempt'], '1');
  assert.notEqual(second!.headers['x-service-delivery-id'], first!.headers['x-service-delivery-id']);
  assert.deepEqual(event.payload, JSON.parse(first!.body.toString()));
  assert.deepEqual(Object.keys(event), ['id', 'type', 'job_id', 'created_at', 'payload', 'deliveries']);
  assert.equal(event.deliveries.length, 2);
});

test('a recovery that a kill interrupts changes nothing; when repeated, it sends each event once', async () => {
  const { id, call, hook, place } = await openHook();
  const shard = shardOf(id);
  const ids = Array.from({ length: 1_500 }, () => makeId('evt')).sort();
  await environment.db.run({
    text: `insert into events (shard, id, account_id, type, body, created_at)
      select $1, e.id, $2, 'transcription.completed', '{}', now() from unnest($3::text[]) as e (id)`,
    values: [shard, id, ids],
  });
  const recover = () => call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' });

  const holding = Promise.withResolvers<void>();
  const held = environment.db.transaction(async (tx) => {
    await tx.rows({ text: 'select from events where shard = $1 and id = $2 for update', values: [shard, ids.at(-1)] });
    const cutOff = recover().then(
      () => 'answered',
      () => 'cut off',
    );
    await until('a recovery in its second batch', async () => {
      const text = `select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%insert into deliveries%'`;
      return (await environment.db.rows({ text })).length > 0;
    });
    const [http] = descendantsOf(node.pid).filter(({ arguments: args }) => args.includes('http'));
    process.kill(http!.pid, 'SIGKILL');
    holding.resolve();
    return await cutOff;
  });
  await holding.promise;
  const outcome = await held;
  await until('another http process', () =>
    fetch(`${node.baseUrl}/healthz`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const left = (await call('GET', `${hook.path}/deliveries`)).json.data;
  const answers = [await recover(), await recover()];
  const sent = await until('every event', () => {
    const requests = receiver.requests.filter((request) => request.path === place);
    return requests.length >= ids.length ? requests : null;
  });

  assert.equal(outcome, 'cut off');
  assert.deepEqual(left, []);
  assert.deepEqual(
    answers.map(({ status, json }) => [status, json.events]),
    [
      [202, ids.length],
      [202, 0],
    ],
  );
  assert.deepEqual(sent.map(({ headers }) => headers['x-service-event-id']).sort(), ids);
});

test('after a change of url during an attempt, the next attempt goes to the new url, and none to the old url', async () => {
  const answer = Promise.withResolvers<Reply>();
  const { call, emit, received, entries, list, hook, place, url } = await openHook(() => answer.promise);
  const newPlace = `/${makeId('wh')}`;
  await emit();
  await received(1);

  const [underWay] = (await list()).data;
  const changed = await call('PATCH', hook.path, { url: url.replace(place, newPlace) });
  answer.resolve({ status: 500 });
  await emit();
  const [made] = (await entries(2, '?status=succeeded')).toReversed();

  assert.deepEqual([underWay!.status, underWay!.next_attempt_at], ['pending', null]);
  assert.equal(changed.status, 200);
  assert.equal(made!.url, changed.json.url);
  assert.equal((await received(1)).length, 1);
  assert.equal(receiver.requests.filter((request) => request.path === newPlace).length, 2);
});

for (const [what, end] of [
  ['disabled', (call: Caller['call'], route: string) => call('PATCH', route, { active: false })],
  ['deleted', (call: Caller['call'], route: string) => call('DELETE', route)],
] as const) {
  test(`a webhook that is ${what} gets no request after the current attempt, and its deliveries are dropped`, async () => {
    const answer = Promise.withResolvers<Reply>();
    const { call, emit, received, hook } = await openHook(() => answer.promise);
    const underWay = await emit();
    await received(1);
    const ids = [underWay];
    // More than may be in flight at once: these wait for their first attempt.
    for (let i = 0; i < 20; i++) ids.push(await emit());
    await received(16);

    const dropped = (count: number) =>
      until(`${count} dropped`, async () => {
        const events = await Promise.all(ids.map((id) => call('GET', `/v1/events/${id}`)));
        const all: Entry[] = events.flatMap(({ json }) => json.deliveries);
        return all.filter(({ status }) => status === 'dropped').length === count ? all : null;
      });

    await end(call, hook.path);
    // The deliverer has read the change, which may take up to a second.
    await dropped(5);
    answer.resolve({ status: 500 });
    const deliveries = await dropped(ids.length);
    const later = await emit();

    assert.equal((await received(16)).length, 16);
    assert.deepEqual(countBy(deliveries.map(({ status }) => status)), { dropped: 21, failed: 16 });
    assert.deepEqual((await call('GET', `/v1/events/${later}`)).json.deliveries, []);
  });
}

test('events during the time when a webhook was disabled are kept, listed, and recovered in one call', async () => {
  const { call, emit, received, hook } = await openHook();
  await call('PATCH', hook.path, { active: false });
  const missed = [await emit(), await emit()];
  const refused = await call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' });
  await call('PATCH', hook.path, { active: true });

  const recovered = await call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' });
  const requests = await received(2);
  const listed = (await call('GET', '/v1/events?type=transcription.completed&limit=1')).json;

  assert.equal(refused.status, 409);
  assert.deepEqual([recovered.status, recovered.json], [202, { events: 2 }]);
  assert.deepEqual(requests.map(({ headers }) => headers['x-service-event-id']).sort(), missed.sort());
  assert.deepEqual([listed.data[0].id, listed.has_more], [missed.at(-1), true]);
});

test('no secret of any of these webhooks is in the log or in the database', async () => {
  const log = node.logText();
  const rows = await environment.db.rows<{ text: string }>({
    text: `select w.*::text as text from webhooks w
      union all select a.*::text from attempts a
      union all select convert_from(e.body, 'UTF8') from events e`,
  });
  const dump = rows.map(({ text }) => text).join('\n');

  assert.ok(secrets.length > 15 && log.length > 10_000);
  assert.deepEqual(
    secrets.filter((secret) => log.includes(secret.slice(6)) || dump.includes(secret.slice(6))),
    [],
  );
});

function countBy(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
