import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import type { FastifyInstance } from 'fastify';
import { callerOf } from '../../../test/fixtures/caller.ts';
import type { Account } from '../../accounts/account.ts';
import { RawJson } from '../../platform/json.ts';
import { openLog } from '../../platform/log.ts';
import { ApiError } from '../api-error.ts';
import { hashKey, type LimitState } from '../authentication.ts';
import { pageQuery } from '../pagination.ts';
import { defineRoute, type Route } from '../route.ts';
import { Type } from '../schema.ts';
import { buildServer, closeServer, type ServerOptions } from './server.ts';

const KEY = `vb_${'a'.repeat(43)}`;
const OTHER_KEY = `vb_${'b'.repeat(43)}`;
const ADMIN_TOKEN = 'admin-token-of-the-test';
const ACCOUNT: Account = { id: 'acct_1', shard: 1, name: 'one', plan: 'pro', unlimited: true };
const COMMON = { summary: 'for the test', tag: 'Test' };
const WITH_KEY = { ...COMMON, auth: 'key', scope: 'any' } as const;
const ADMITTED: LimitState = { kind: 'admitted', limit: 10, remaining: 9, resetSeconds: 60 };

/** A server with a few routes; the tests change `environment`. */
function openEnvironment(more: { routes?: Route[]; options?: Partial<ServerOptions> } = {}) {
  const environment = { state: ADMITTED as LimitState | null, admissions: 0, uploadsStarted: 0 };
  const app = buildServer({
    routes: [...routesOf(environment), ...(more.routes ?? [])],
    auth: {
      findCaller: async (hash) => (hash.equals(hashKey(KEY)) ? callerOf(ACCOUNT) : null),
      adminToken: ADMIN_TOKEN,
    },
    limits: {
      admit: async () => {
        environment.admissions += 1;
        return environment.state;
      },
    },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
    ...more.options,
  });
  return { environment, app, [Symbol.asyncDispose]: () => closeServer(app, 0) };
}

const FAILING_ROUTES: Route[] = [
  defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/broken',
    auth: 'none',
    schema: { answers: {} },
    handle: async () => {
      throw new Error('select secret from /home/somebody');
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/unreachable',
    auth: 'none',
    schema: { answers: {} },
    handle: async () => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    },
  }),
];

function routesOf(environment: { uploadsStarted: number }): Route[] {
  return [
    defineRoute({
      ...WITH_KEY,
      method: 'GET',
      path: '/v1/jobs',
      bucket: 'jobs',
      schema: { query: pageQuery, answers: {} },
      handle: async ({ query }) => ({
        status: 200,
        body: { ...query, raw: new RawJson('{"n":12345678901234567890}') },
      }),
    }),
    defineRoute({
      ...WITH_KEY,
      method: 'GET',
      path: '/v1/jobs/:id',
      schema: { answers: {} },
      handle: async () => {
        throw new ApiError('not_found', 'There is no such job.');
      },
    }),
    defineRoute({
      ...WITH_KEY,
      method: 'DELETE',
      path: '/v1/jobs/:id',
      schema: { answers: {} },
      handle: async () => ({ status: 204 }),
    }),
    defineRoute({
      ...WITH_KEY,
      method: 'POST',
      path: '/v1/webhooks',
      schema: {
        answers: {},
        body: Type.Object({
          url: Type.String({ maxLength: 20 }),
          events: Type.Optional(Type.Array(Type.Union([Type.Literal('a'), Type.Literal('b')]), { minItems: 1 })),
          description: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        }),
      },
      handle: async ({ body }) => ({ status: 201, body }),
    }),
    defineRoute({
      ...WITH_KEY,
      method: 'POST',
      path: '/v1/transcribe',
      bucket: 'transcribe',
      upload: true,
      schema: { answers: {} },
      async handle({ upload }) {
        environment.uploadsStarted += 1;
        let sizeBytes = 0;
        for await (const chunk of upload.open()) sizeBytes += (chunk as Buffer).length;
        return { status: 200, body: { size_bytes: sizeBytes } };
      },
    }),
    defineRoute({
      ...COMMON,
      method: 'GET',
      path: '/admin/v1/accounts',
      auth: 'admin',
      schema: { answers: {} },
      handle: async () => ({ status: 200, body: {} }),
    }),
    ...FAILING_ROUTES,
  ];
}

async function listen(app: FastifyInstance): Promise<number> {
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

/** Sends bytes and resolves to everything received until the server closes the connection. */
async function exchange(port: number, bytes: string): Promise<{ status: number; head: string; body: string }> {
  const socket = net.connect(port, '127.0.0.1');
  socket.write(bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk) => chunks.push(chunk));
  await once(socket, 'close');
  const [head, body] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  return { status: Number(head!.split(' ')[1]), head: head!, body: body ?? '' };
}

function assertProblem(text: string, status: number, type: string, param?: string): void {
  const body = JSON.parse(text);
  assert.equal(body.error.code, status);
  assert.equal(body.error.type, type);
  assert.equal(body.error.param, param);
  assert.match(body.error.message, /^[A-Za-z].{8,}\.$/s);
  assert.match(body.request_id, /^req_[0-9a-z]{26}$/);
}

const json = { 'x-api-key': KEY, 'content-type': 'application/json' };
const badRequests: [string, object, number, string, string?][] = [
  ['an unknown path', { method: 'GET', url: '/nope' }, 404, 'not_found'],
  ['another method', { method: 'PUT', url: '/v1/jobs' }, 405, 'method_not_allowed'],
  ['a path with wrong percent-encoding', { method: 'GET', url: '/v1/jobs/%zz' }, 400, 'invalid_request'],
  ['a control character in a path', { method: 'GET', url: '/v1/jobs/%00', headers: json }, 404, 'not_found'],
  [
    'a very long path parameter',
    { method: 'GET', url: `/v1/jobs/${'a'.repeat(4000)}`, headers: json },
    404,
    'not_found',
  ],
  ['an unknown id', { method: 'GET', url: '/v1/jobs/x', headers: json }, 404, 'not_found'],
  ['no key', { method: 'GET', url: '/v1/jobs' }, 401, 'unauthenticated'],
  ['an unknown key', { method: 'GET', url: '/v1/jobs', headers: { 'x-api-key': OTHER_KEY } }, 401, 'unauthenticated'],
  [
    'a key too long',
    { method: 'GET', url: '/v1/jobs', headers: { 'x-api-key': 'k'.repeat(300) } },
    401,
    'unauthenticated',
  ],
  [
    'two keys',
    { method: 'GET', url: '/v1/jobs', headers: { 'x-api-key': KEY, authorization: `Bearer ${OTHER_KEY}` } },
    401,
    'unauthenticated',
  ],
  [
    'an API key at an admin endpoint',
    { method: 'GET', url: '/admin/v1/accounts', headers: { authorization: `Bearer ${KEY}` } },
    401,
    'unauthenticated',
  ],
  [
    'an unknown query parameter',
    { method: 'GET', url: '/v1/jobs?colour=red', headers: json },
    400,
    'invalid_request',
    'colour',
  ],
  [
    'a limit in another notation',
    { method: 'GET', url: '/v1/jobs?limit=1e1', headers: json },
    400,
    'invalid_request',
    'limit',
  ],
  ['a limit of zero', { method: 'GET', url: '/v1/jobs?limit=0', headers: json }, 400, 'invalid_request', 'limit'],
  ['a limit over 100', { method: 'GET', url: '/v1/jobs?limit=101', headers: json }, 400, 'invalid_request', 'limit'],
  [
    'a limit given twice',
    { method: 'GET', url: '/v1/jobs?limit=1&limit=2', headers: json },
    400,
    'invalid_request',
    'limit',
  ],
  [
    'a NUL in the query',
    { method: 'GET', url: '/v1/jobs?cursor=%00', headers: json },
    400,
    'invalid_request',
    'cursor',
  ],
  ['malformed JSON', { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{' }, 400, 'invalid_request'],
  [
    'JSON that is not an object',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '[]' },
    400,
    'invalid_request',
  ],
  ['JSON null', { method: 'POST', url: '/v1/webhooks', headers: json, payload: 'null' }, 400, 'invalid_request'],
  [
    'malformed UTF-8',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: Buffer.from('{"url":"\xff"}', 'latin1') },
    400,
    'invalid_request',
  ],
  [
    'an empty body',
    { method: 'POST', url: '/v1/webhooks', headers: { 'x-api-key': KEY } },
    400,
    'invalid_request',
    'url',
  ],
  [
    'a field missing',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{}' },
    400,
    'invalid_request',
    'url',
  ],
  [
    'a field of the wrong type',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":1}' },
    400,
    'invalid_request',
    'url',
  ],
  [
    'an unknown field',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":"x","colour":1}' },
    400,
    'invalid_request',
    'colour',
  ],
  [
    'a __proto__ field',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":"x","__proto__":{}}' },
    400,
    'invalid_request',
    '__proto__',
  ],
  [
    'a value that is not in the list',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":"x","events":["c"]}' },
    400,
    'invalid_request',
    'events',
  ],
  [
    'an empty list',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":"x","events":[]}' },
    400,
    'invalid_request',
    'events',
  ],
  [
    'a text too long',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: `{"url":"${'x'.repeat(21)}"}` },
    400,
    'invalid_request',
    'url',
  ],
  [
    'an escaped NUL',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '{"url":"a\\u0000"}' },
    400,
    'invalid_request',
    'url',
  ],
  [
    'an escaped NUL outside of an object',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: '"\\u0000"' },
    400,
    'invalid_request',
  ],
  [
    'a form where JSON is expected',
    {
      method: 'POST',
      url: '/v1/webhooks',
      headers: { 'x-api-key': KEY, 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'url=x',
    },
    415,
    'unsupported_media_type',
  ],
  [
    'a malformed content type',
    { method: 'POST', url: '/v1/webhooks', headers: { 'x-api-key': KEY, 'content-type': ';;' }, payload: '{}' },
    415,
    'unsupported_media_type',
  ],
  [
    'a compressed body',
    { method: 'POST', url: '/v1/webhooks', headers: { ...json, 'content-encoding': 'gzip' }, payload: '{}' },
    415,
    'unsupported_media_type',
    'Content-Encoding',
  ],
  [
    'a body over 64 KiB',
    { method: 'POST', url: '/v1/webhooks', headers: json, payload: `{"url":"${'x'.repeat(65_536)}"}` },
    413,
    'too_large',
  ],
  [
    'a body on a route without one',
    { method: 'DELETE', url: '/v1/jobs/x', headers: json, payload: '[]' },
    400,
    'invalid_request',
  ],
  ['an unexpected error', { method: 'GET', url: '/broken' }, 500, 'internal'],
  ['an unreachable database', { method: 'GET', url: '/unreachable' }, 503, 'unavailable'],
  ['a body sent to an unknown path', { method: 'POST', url: '/nope', headers: json, payload: '{}' }, 404, 'not_found'],
  [
    'a form sent to another method',
    { method: 'PUT', url: '/v1/jobs', headers: { 'content-type': 'multipart/form-data; boundary=x' }, payload: 'x' },
    405,
    'method_not_allowed',
  ],
];

for (const [what, request, status, type, param] of badRequests) {
  test(`${what} is answered ${status} ${type}`, async () => {
    await using fixture = openEnvironment();

    const answer = await fixture.app.inject(request);

    assert.equal(answer.statusCode, status, answer.body);
    assertProblem(answer.body, status, type, param);
    assert.equal(answer.headers['x-request-id'], answer.json().request_id);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal(answer.headers['cache-control'], 'no-store');
    assert.doesNotMatch(answer.body, /select|home|ECONN|node_modules/);
  });
}

test('405 and OPTIONS list the methods of a path; HEAD answers like GET', async () => {
  await using fixture = openEnvironment();

  const wrong = await fixture.app.inject({ method: 'POST', url: '/v1/jobs' });
  const asked = await fixture.app.inject({ method: 'OPTIONS', url: '/v1/jobs/job_1' });
  const head = await fixture.app.inject({ method: 'HEAD', url: '/v1/jobs', headers: json });

  assert.equal(wrong.headers.allow, 'GET, HEAD, OPTIONS');
  assert.deepEqual([asked.statusCode, asked.headers.allow, asked.body], [204, 'GET, DELETE, HEAD, OPTIONS', '']);
  assert.deepEqual([head.statusCode, head.body, head.headers['ratelimit-limit']], [200, '', '10']);
});

test('the same key may be sent twice, in either header', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  const head = 'GET /v1/jobs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';

  const same = await exchange(
    port,
    `${head}X-API-Key: ${KEY}\r\nX-API-Key: ${KEY}\r\nAuthorization: bearer ${KEY}\r\n\r\n`,
  );
  const different = await exchange(port, `${head}X-API-Key: ${KEY}\r\nX-API-Key: ${OTHER_KEY}\r\n\r\n`);
  const bearer = await exchange(port, `${head}Authorization: Bearer ${KEY}\r\n\r\n`);

  assert.equal(same.status, 200);
  assertProblem(different.body, 401, 'unauthenticated');
  assert.equal(bearer.status, 200);
});

test('an admin endpoint accepts only the token', async () => {
  await using fixture = openEnvironment();
  const ask = (authorization: string) =>
    fixture.app.inject({ url: '/admin/v1/accounts', headers: { authorization } }).then((answer) => answer.statusCode);

  assert.equal(await ask(`Bearer ${ADMIN_TOKEN}`), 200);
  assert.equal(await ask(`Bearer ${ADMIN_TOKEN}x`), 401);
  assert.equal(await ask(`Basic ${ADMIN_TOKEN}`), 401);
});

test('numbers keep their digits, and a query gets its defaults', async () => {
  await using fixture = openEnvironment();

  const answer = await fixture.app.inject({ url: '/v1/jobs', headers: json });

  assert.equal(answer.body, '{"limit":20,"raw":{"n":12345678901234567890}}');
});

test('an endpoint with a rate limit sends the RateLimit headers, also with a 400', async () => {
  await using fixture = openEnvironment();

  const good = await fixture.app.inject({ url: '/v1/jobs', headers: json });
  const bad = await fixture.app.inject({ url: '/v1/jobs?limit=x', headers: json });

  const shown = [good, bad].map(({ headers }) => [
    headers['ratelimit-limit'],
    headers['ratelimit-remaining'],
    headers['ratelimit-reset'],
  ]);
  assert.deepEqual(shown, [
    ['10', '9', '60'],
    ['10', '9', '60'],
  ]);
});

test('a 429 gives the seconds to wait in the body and in the headers', async () => {
  await using fixture = openEnvironment();
  fixture.environment.state = { kind: 'refused', limit: 10, windowSeconds: 60, retryAfterSeconds: 7 };

  const answer = await fixture.app.inject({ url: '/v1/jobs', headers: json });

  assertProblem(answer.body, 429, 'rate_limited');
  assert.equal(answer.json().retry_after, 7);
  const message =
    'At most 10 requests for the list of jobs of an account pass in 60 s (RATE_LIMIT_JOBS); try again in 7 s.';
  assert.equal(answer.json().error.message, message);
  assert.equal(answer.headers['retry-after'], '7');
  assert.equal(answer.headers['ratelimit-remaining'], '0');
});

test('a request without a valid key does not count against the rate limit', async () => {
  await using fixture = openEnvironment();

  await fixture.app.inject({ url: '/v1/jobs', headers: { 'x-api-key': OTHER_KEY } });

  assert.equal(fixture.environment.admissions, 0);
});

const malformed: [string, string, number, string][] = [
  ['garbage', 'garbage\r\n\r\n', 400, 'invalid_request'],
  ['a TLS ClientHello', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 'invalid_request'],
  [
    'headers over 16 KiB',
    `GET /v1/jobs HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
    431,
    'invalid_request',
  ],
  ['a missing Host', 'GET /v1/jobs HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'invalid_request'],
  [
    'a malformed chunk',
    `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    400,
    'invalid_request',
  ],
  [
    'two lengths',
    'POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
    400,
    'invalid_request',
  ],
  [
    'length and chunks',
    'POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    400,
    'invalid_request',
  ],
  ['CONNECT', 'CONNECT a:443 HTTP/1.1\r\nHost: x\r\n\r\n', 405, 'method_not_allowed'],
];

for (const [what, bytes, status, type] of malformed) {
  test(`${what} as raw bytes is answered ${status} with the error body`, async () => {
    await using fixture = openEnvironment();
    const port = await listen(fixture.app);

    const answer = await exchange(port, bytes);

    assert.equal(answer.status, status);
    const { error } = JSON.parse(answer.body);
    assert.deepEqual([error.code, error.type], [status, type]);
    assert.match(answer.head, /x-request-id: req_/i);
  });
}

test('an upload without a key is answered before its body is complete, and its connection is closed', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  const start = `POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n`;

  // The rest of the body is never sent: the server closes the connection.
  const answer = await exchange(port, start + 'a'.repeat(5_000_000));

  assert.equal(answer.status, 401);
  assertProblem(answer.body, 401, 'unauthenticated');
  assert.match(answer.head, /connection: close/i);
  assert.equal(fixture.environment.uploadsStarted, 0);
});

test('an upload over the rate limit does not reach its handler', async () => {
  await using fixture = openEnvironment();
  fixture.environment.state = { kind: 'refused', limit: 10, windowSeconds: 60, retryAfterSeconds: 3 };
  const port = await listen(fixture.app);
  const start = `POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Length: 1000000000\r\n\r\n`;

  const answer = await exchange(port, start + 'a'.repeat(5_000_000));

  assert.equal(answer.status, 429);
  assert.equal(fixture.environment.uploadsStarted, 0);
});

test('Expect: 100-continue is answered 100 only when the request is admitted', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  const start =
    'POST /v1/transcribe HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: 100-continue\r\nContent-Length: 5\r\n';

  const wanted = await exchange(port, `${start}X-API-Key: ${KEY}\r\n\r\nhello`);
  const refused = await exchange(port, `${start}\r\nhello`);

  assert.match(wanted.head, /^HTTP\/1.1 100 Continue/);
  assert.match(wanted.body, /^HTTP\/1.1 200 OK/);
  assert.equal(refused.status, 401);
});

test('without a body the content type does not matter', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  const head = `Host: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n`;

  const empty = await exchange(port, `DELETE /v1/jobs/x HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`);
  const form = await exchange(port, `DELETE /v1/jobs/x HTTP/1.1\r\n${head}Content-Length: 3\r\n\r\na=b`);

  assert.deepEqual([empty.status, form.status], [204, 415]);
});

test('an incomplete JSON body is answered 408', async () => {
  await using fixture = openEnvironment({ options: { bodyTimeoutMs: 20 } });
  const port = await listen(fixture.app);
  const start = `POST /v1/webhooks HTTP/1.1\r\nHost: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"url"`;

  const answer = await exchange(port, start);

  assert.equal(answer.status, 408);
  assert.equal(JSON.parse(answer.body).error.code, 408);
});

test('a connection stays usable after a malformed body', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  const head = `Host: x\r\nX-API-Key: ${KEY}\r\nContent-Type: application/json\r\n`;

  const { head: first, body } = await exchange(
    port,
    `POST /v1/webhooks HTTP/1.1\r\n${head}Content-Length: 1\r\n\r\n{POST /v1/webhooks HTTP/1.1\r\n${head}Connection: close\r\nContent-Length: 11\r\n\r\n{"url":"x"}`,
  );

  assert.match(first, /^HTTP\/1.1 400/);
  assert.match(body, /HTTP\/1.1 201/);
});

test('closing finishes requests in flight and answers 503 to new ones on open connections', async () => {
  const started = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  const slow = defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/slow',
    auth: 'none',
    schema: { answers: {} },
    async handle() {
      started.resolve();
      await release.promise;
      return { status: 200, body: { done: true } };
    },
  });
  const { app } = openEnvironment({ routes: [slow] });
  const closing = Promise.withResolvers<void>();
  app.addHook('preClose', async () => closing.resolve());
  const port = await listen(app);
  const inFlight = exchange(port, 'GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
  const late = net.connect(port, '127.0.0.1');
  late.write('GET /slow HTTP/1.1\r\n');
  await started.promise;

  const closed = closeServer(app, 5_000);
  await closing.promise;
  late.write('Host: x\r\n\r\n');
  const [lateAnswer] = await once(late, 'data');
  release.resolve();
  const { head, body } = await inFlight;
  await closed;

  assert.match(head, /^HTTP\/1.1 200.*connection: close/is);
  assert.equal(body, '{"done":true}');
  assert.match(String(lateAnswer), /^HTTP\/1.1 503.*retry-after: 5/is);
});

test('the log line of a request has its ids and outcome, but not the key', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('silent');
  log.info = ((line: Record<string, unknown>) => lines.push(line)) as unknown as typeof log.info;
  await using fixture = openEnvironment({ options: { log } });
  const port = await listen(fixture.app);

  await exchange(port, `GET /v1/jobs?limit=3 HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Key: ${KEY}\r\n\r\n`);

  assert.equal(lines.length, 1);
  const { request_id, duration_ms, ...rest } = lines[0]!;
  assert.match(String(request_id), /^req_/);
  assert.equal(typeof duration_ms, 'number');
  assert.deepEqual(rest, {
    method: 'GET',
    route: '/v1/jobs',
    status: 200,
    account: 'acct_1',
    key_id: 'key_00000000000000000000000000',
  });
});

test('an answer of 500 that a handler returns is logged as an error', async () => {
  const errors: Record<string, unknown>[] = [];
  const log = openLog('silent');
  log.error = ((line: Record<string, unknown>) => errors.push(line)) as unknown as typeof log.error;
  const route = defineRoute({
    ...COMMON,
    method: 'GET',
    path: '/failed',
    auth: 'none',
    schema: { answers: {} },
    handle: async () => ({ status: 500, body: { error: {} } }),
  });
  await using fixture = openEnvironment({ routes: [route], options: { log } });
  const port = await listen(fixture.app);

  const given = await exchange(port, 'GET /failed HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const thrown = await exchange(port, 'GET /broken HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');

  assert.deepEqual([given.status, thrown.status], [500, 500]);
  const messages = errors.map((line) => (line['error'] as { message?: string }).message);
  assert.deepEqual(messages, [undefined, 'select secret from /home/somebody']);
});

test('every timeout of the server is set', async () => {
  await using fixture = openEnvironment();
  const { server } = fixture.app;

  assert.deepEqual([server.requestTimeout, server.headersTimeout], [21_600_000, 20_000]);
  assert.deepEqual([server.keepAliveTimeout, server.maxRequestsPerSocket], [65_000, 10_000]);
});

test('the last request that a connection may carry is answered whole, and announces its end', async () => {
  await using fixture = openEnvironment();
  const port = await listen(fixture.app);
  fixture.app.server.maxRequestsPerSocket = 3;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const answers: string[] = [];

  for (let i = 0; i < 5; i++) {
    const request = http.get({ port, agent, path: '/v1/jobs', headers: { 'x-api-key': KEY } });
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    response.resume();
    await once(response, 'end');
    answers.push(`${response.statusCode} ${response.headers.connection}`);
  }
  agent.destroy();

  const open = '200 keep-alive';
  assert.deepEqual(answers, [open, open, '200 close', open, open]);
});
