import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { ERROR_STATUS } from '../../../../src/http/api-error.ts';
import { openClientClock } from '../../../../test/fixtures/client-clock.ts';
import { openManualClock } from '../../../../test/fixtures/manual-clock.ts';
import {
  openScriptedServer,
  type ScriptedServer,
  type Step,
} from '../../../../test/fixtures/servers/scripted-server.ts';
import type { RequestReport, VerbatimOptions } from '../index.ts';
import * as sdk from '../index.ts';

const { AbortedError, ApiError, ConnectionError, NotFoundError, TimeoutError, Verbatim, VerbatimError } = sdk;

const KEY = 'vb_0123456789abcdef0123456789abcdef';
const TIMEOUT_MS = 60_000;
const OK: Step = { status: 200, json: { amount: 1 } };

const problem = (status: number, type: string, headers: Record<string, string> = {}, more: object = {}): Step => ({
  status,
  headers,
  json: {
    error: { message: 'Do this.', code: status, type, param: 'url', docs: `/docs/errors#${type}` },
    request_id: 'req_1',
    ...more,
  },
});

/** A client of a scripted server on a clock where waits end at once. */
function clientOf(server: ScriptedServer, options: VerbatimOptions = {}) {
  const clock = openClientClock(TIMEOUT_MS);
  return { client: new Verbatim({ apiKey: KEY, baseUrl: server.url, clock, ...options }), clock };
}

const caught = async (promise: PromiseLike<unknown>): Promise<Error> =>
  await Promise.resolve(promise).then(
    () => assert.fail('It should have failed.'),
    (error) => error as Error,
  );

const FINAL: [string, Step][] = [
  ['400', problem(400, 'invalid_request')],
  ['401', problem(401, 'unauthenticated')],
  ['402', problem(402, 'insufficient_balance')],
  ['403', problem(403, 'missing_scope')],
  ['404', problem(404, 'not_found')],
  ['409 for another reason than a request in progress', problem(409, 'conflict')],
  ['413', problem(413, 'too_large')],
  ['422', problem(422, 'unprocessable_audio')],
];

for (const [what, step] of FINAL) {
  test(`an answer of ${what} is not repeated`, async () => {
    await using server = await openScriptedServer([step, OK]);
    const { client } = clientOf(server);

    const error = await caught(client.balance());

    assert.ok(error instanceof ApiError);
    assert.equal(error.isRetryable, false);
    assert.equal(server.requests.length, 1);
  });
}

const PASSING: [string, Step][] = [
  ['408', problem(408, 'invalid_request')],
  ['429', problem(429, 'rate_limited')],
  ['500', problem(500, 'internal')],
  ['502 of a proxy', { status: 502, text: '<html>Bad Gateway</html>' }],
  ['503', problem(503, 'unavailable')],
  ['504', { status: 504 }],
  ['409 with Retry-After: the same key is in progress', problem(409, 'conflict', { 'retry-after': '0' })],
  ['a connection that is cut', 'cut'],
  ['a body that is cut', 'cut_body'],
];

for (const [what, step] of PASSING) {
  test(`after ${what} the request is repeated, twice at most`, async () => {
    await using passing = await openScriptedServer([step, step, OK]);
    await using lasting = await openScriptedServer([step]);

    assert.deepEqual(await clientOf(passing).client.balance(), { amount: 1 });
    const error = await caught(clientOf(lasting).client.balance());

    assert.ok(error instanceof VerbatimError && error.isRetryable, inspect(error));
    assert.deepEqual([passing.requests.length, lasting.requests.length], [3, 3]);
  });
}

const PAGE = { 'content-type': 'text/html; charset=utf-8', 'x-request-id': 'req_1' };
const JSON_TYPE = { 'content-type': 'application/json', 'x-request-id': 'req_1' };
const UNREADABLE: [string, Step][] = [
  ['the page of a proxy', { status: 200, headers: PAGE, text: '<html>Please sign in</html>' }],
  ['JSON that is cut', { status: 200, headers: JSON_TYPE, text: '{"amount": 1, "uni' }],
  ['nothing', { status: 200, headers: JSON_TYPE, text: '' }],
  ['JSON that is no object', { status: 200, headers: JSON_TYPE, text: '1' }],
];

for (const [what, step] of UNREADABLE) {
  test(`a 2xx with ${what} is a retried error with status and request id`, async () => {
    await using passing = await openScriptedServer([step, step, OK]);
    await using lasting = await openScriptedServer([step]);

    assert.deepEqual(await clientOf(passing).client.balance(), { amount: 1 });
    const error = await caught(clientOf(lasting).client.balance());

    assert.ok(error instanceof sdk.UnreadableAnswerError, inspect(error));
    assert.deepEqual([error.isRetryable, error.status, error.requestId], [true, 200, 'req_1']);
    assert.match(error.message, /a proxy may have changed it/);
    assert.equal(lasting.requests.length, 3);
  });
}

test('a job whose answer was cut is created once more with the same Idempotency-Key', async () => {
  const cut: Step = { status: 202, headers: JSON_TYPE, text: '{"id": "job_1", "sta' };
  await using server = await openScriptedServer([cut, { status: 202, json: { id: 'job_1', status: 'queued' } }]);
  const client = new Verbatim({ apiKey: KEY, baseUrl: server.url });

  const job = await client.jobs.create(new Blob(['x']));

  const keys = server.requests.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual([job.id, keys.length, new Set(keys).size], ['job_1', 2, 1]);
});

test('a web page is taken neither for captions, nor for CSV, nor for audio, nor for a stream', async () => {
  await using server = await openScriptedServer([UNREADABLE[0]![1]]);
  const { client } = clientOf(server, { maxRetries: 0 });

  for (const call of [
    () => client.jobs.transcript('job_1', 'srt'),
    () => client.jobs.audio('job_1'),
    () => client.usageCsv(),
  ]) {
    assert.ok((await caught(call())) instanceof sdk.UnreadableAnswerError);
  }
  const states: sdk.ConnectionState[] = [];
  const stop = new AbortController();
  const onConnection = (state: sdk.ConnectionState) => {
    states.push(state);
    stop.abort();
  };
  await assert.rejects(async () => {
    for await (const _frame of client.stream({ signal: stop.signal, onConnection })) break;
  }, AbortedError);
  assert.ok(states[0]?.state === 'lost' && states[0].error instanceof sdk.UnreadableAnswerError);
});

test('the delays double up to 8 s, less up to a quarter', async () => {
  await using server = await openScriptedServer(['cut']);
  const { client, clock } = clientOf(server, { maxRetries: 6 });

  await caught(client.balance());

  const longest = [500, 1_000, 2_000, 4_000, 8_000, 8_000];
  assert.equal(clock.waits.length, longest.length);
  for (const [index, most] of longest.entries()) {
    const wait = clock.waits[index]!;
    assert.ok(wait <= most && wait >= most * 0.75, `${wait} is not about ${most}`);
  }
});

test('Retry-After is obeyed in seconds and as a date; more than 60 s is left to the caller', async () => {
  const date = 'Sat, 21 Nov 2026 09:30:12 GMT';
  const steps = ['7', date, '61'].map((value) => problem(429, 'rate_limited', { 'retry-after': value }));
  await using server = await openScriptedServer(steps);
  const { client, clock } = clientOf(server, { maxRetries: 5 });

  const error = await caught(client.balance());

  assert.ok(error instanceof sdk.RateLimitError);
  assert.deepEqual([error.isRetryable, error.retryAfterMs], [true, 61_000]);
  // The date lies 12 s after the start; 7 s of them had passed.
  assert.deepEqual(clock.waits, [7_000, 5_000]);
});

test('a POST has a key of its own that its repetitions keep; other methods have none', async () => {
  await using server = await openScriptedServer(['cut', OK, OK, OK, OK]);
  const { client } = clientOf(server);

  await client.webhooks.test('wh_1');
  await client.webhooks.test('wh_1');
  await client.keys.create({}, { idempotencyKey: 'mine' });
  await client.balance();

  const [first, again, second, own, get] = server.requests.map(({ headers }) => headers['idempotency-key']);
  assert.match(String(first), /^vb-[0-9a-f]{32}$/);
  assert.deepEqual([again, own, get], [first, 'mine', undefined]);
  assert.notEqual(second, first);
});

test('a deletion whose answer was lost has succeeded; one of something unknown has not', async () => {
  await using server = await openScriptedServer(['cut', problem(404, 'not_found')]);
  const { client } = clientOf(server);

  await client.webhooks.delete('wh_1');

  assert.ok((await caught(client.webhooks.delete('wh_1'))) instanceof NotFoundError);
});

for (const [phase, step] of [
  ['answer', 'silence'],
  ['body', (_, response) => void response.writeHead(200).write('{')],
] as [string, Step][]) {
  test(`an attempt that takes too long ends in the phase ${phase}`, async () => {
    await using server = await openScriptedServer([step]);
    const clock = openManualClock();
    const bodies = Promise.withResolvers<void>();
    const onRequest = () => bodies.resolve();
    const client = new Verbatim({ apiKey: KEY, baseUrl: server.url, clock, maxRetries: 0, onRequest });

    const ended = caught(client.balance());
    await server.waitFor(1);
    if (phase === 'body') await bodies.promise;
    await clock.advance(TIMEOUT_MS);

    const error = await ended;
    assert.ok(error instanceof TimeoutError, inspect(error));
    assert.deepEqual([error.phase, error.isRetryable], [phase, true]);
  });
}

test('the audio of a job may take longer than the limit, once it has begun', async () => {
  const step: Step = (_, response) => {
    response.writeHead(200, { 'content-type': 'audio/wav' }).write('RI');
    finish.promise.then(() => response.end('FF'));
  };
  const finish = Promise.withResolvers<void>();
  await using server = await openScriptedServer([step]);
  const clock = openManualClock();
  const client = new Verbatim({ apiKey: KEY, baseUrl: server.url, clock, maxRetries: 0 });

  const answer = await client.jobs.audio('job_1');
  await clock.advance(TIMEOUT_MS);
  finish.resolve();

  assert.equal(await answer.text(), 'RIFF');
});

test('the signal ends a call before it, during it and between its attempts', async () => {
  await using silent = await openScriptedServer(['silence']);
  await using cutting = await openScriptedServer(['cut']);
  const during = new AbortController();
  const between = new AbortController();
  const onRequest = () => between.abort('enough');

  const before = await caught(clientOf(silent).client.balance({ signal: AbortSignal.abort('enough') }));
  const running = caught(clientOf(silent).client.balance({ signal: during.signal }));
  await silent.waitFor(1);
  during.abort('enough');
  const waiting = await caught(clientOf(cutting, { onRequest }).client.balance({ signal: between.signal }));

  for (const error of [before, await running, waiting]) {
    assert.ok(error instanceof AbortedError && error.cause === 'enough', inspect(error));
  }
  assert.deepEqual([silent.requests.length, cutting.requests.length], [1, 1]);
});

test('a redirect is not followed, and the other address learns nothing', async () => {
  await using other = await openScriptedServer([OK]);
  await using server = await openScriptedServer([{ status: 307, headers: { location: `${other.url}/v1/balance` } }]);

  const error = await caught(clientOf(server).client.balance());

  assert.ok(error instanceof ConnectionError);
  assert.equal(other.requests.length, 0);
});

for (const [type, status] of Object.entries(ERROR_STATUS)) {
  test(`${type} has a class of its own`, async () => {
    const more = {
      needed_credits: 3,
      available_credits: 2,
      required_scope: 'jobs:read',
      job_id: 'job_1',
      reason: 'dns',
    };
    await using server = await openScriptedServer([problem(status, type, {}, more)]);

    const error = await caught(clientOf(server, { maxRetries: 0 }).client.balance());

    assert.ok(error instanceof ApiError);
    assert.notEqual(error.constructor, ApiError);
    assert.equal(new Map<string, unknown>(Object.entries(sdk)).get(error.name), error.constructor);
    const { status: shown, param, docs, requestId, jobId, message } = error;
    assert.deepEqual(
      { type: error.type, shown, param, docs, requestId, jobId, message },
      {
        type,
        shown: status,
        param: 'url',
        docs: `${server.url}/docs/errors#${type}`,
        requestId: 'req_1',
        jobId: 'job_1',
        message: 'Do this.',
      },
    );
    if (error instanceof sdk.InsufficientBalanceError) assert.deepEqual([error.needed, error.available], [3, 2]);
    if (error instanceof sdk.MissingScopeError) assert.equal(error.requiredScope, 'jobs:read');
    if (error instanceof sdk.AudioFetchFailedError) assert.equal(error.reason, 'dns');
  });
}

test('no two types share a class', async () => {
  const names = new Set<string>();
  for (const [type, status] of Object.entries(ERROR_STATUS)) {
    await using server = await openScriptedServer([problem(status, type)]);
    names.add((await caught(clientOf(server, { maxRetries: 0 }).client.balance())).constructor.name);
  }

  assert.equal(names.size, Object.keys(ERROR_STATUS).length);
});

test('every attempt is reported, with its status, its request and the headers of the answer', async () => {
  const step: Step = { status: 200, json: {}, headers: { 'x-request-id': 'req_2', 'ratelimit-remaining': '9' } };
  await using server = await openScriptedServer(['cut', step]);
  const reports: RequestReport[] = [];

  await clientOf(server, { onRequest: (report) => reports.push(report) }).client.search({ q: 'secret words' });

  assert.deepEqual(
    reports.map(({ method, path, attempt, status, requestId }) => ({ method, path, attempt, status, requestId })),
    [
      { method: 'GET', path: '/v1/search', attempt: 1, status: null, requestId: null },
      { method: 'GET', path: '/v1/search', attempt: 2, status: 200, requestId: 'req_2' },
    ],
  );
  assert.equal(reports[1]!.headers!.get('ratelimit-remaining'), '9');
});

test('a key may come from a function, and is shown nowhere', async () => {
  await using server = await openScriptedServer(['cut', problem(401, 'unauthenticated')]);
  const keys = ['one', 'two'];
  const { client } = clientOf(server, { apiKey: async () => `${KEY}${keys.shift()}` });

  const error = await caught(client.balance());

  assert.deepEqual(
    server.requests.map(({ headers }) => headers['x-api-key']),
    [`${KEY}one`, `${KEY}two`],
  );
  const shown = inspect([error, client, clientOf(server).client], { depth: 9, showHidden: true });
  assert.equal(shown.includes(KEY), false);
});

test('key and headers come from functions before each attempt; without a key none is sent', async () => {
  await using server = await openScriptedServer(['cut', OK]);
  let count = 0;
  const headers = () => ({ 'x-count': String(++count) });
  const { client } = clientOf(server, { apiKey: () => undefined, headers });

  await client.balance();

  assert.deepEqual(
    server.requests.map((request) => [request.headers['x-count'], request.headers['x-api-key']]),
    [
      ['1', undefined],
      ['2', undefined],
    ],
  );
});

test('a client with other options keeps the rest', async () => {
  await using server = await openScriptedServer([OK]);
  const { client } = clientOf(server, { headers: { 'x-team': 'a' } });

  await client.with({ apiKey: 'vb_other' }).balance({ headers: { 'x-call': '1' } });

  const { headers } = server.requests[0]!;
  assert.deepEqual([headers['x-api-key'], headers['x-team'], headers['x-call']], ['vb_other', 'a', '1']);
});

test('ids are encoded, and cannot change the path', async () => {
  await using server = await openScriptedServer([OK]);
  const client = new Verbatim({ apiKey: KEY, baseUrl: `${server.url}/verbatim/` });

  await client.webhooks.get('../keys?x=1#y');
  for (const id of ['', '.', '..']) await assert.rejects(client.webhooks.delete(id), TypeError);

  assert.deepEqual(
    server.requests.map(({ path }) => path),
    ['/verbatim/v1/webhooks/..%2Fkeys%3Fx%3D1%23y'],
  );
});

test('filters are written as the API reads them', async () => {
  await using server = await openScriptedServer([
    { status: 200, json: { data: [], has_more: false, next_cursor: null } },
  ]);
  const { client } = clientOf(server);

  await client.jobs.list({ limit: 5, status: 'failed', metadata: { 'a b': '1&2' }, plan: undefined });

  const { searchParams } = new URL(server.requests[0]!.path, server.url);
  assert.deepEqual([...searchParams], Object.entries({ limit: '5', status: 'failed', 'metadata[a b]': '1&2' }));
});
