import assert from 'node:assert/strict';
import test from 'node:test';
import { callerOf } from '../../../test/fixtures/caller.ts';
import type { Account } from '../../accounts/account.ts';
import { openLog } from '../../platform/log.ts';
import { hashKey, type LimitState } from '../authentication.ts';
import { defineRoute } from '../route.ts';
import { buildServer, closeServer } from './server.ts';

const KEY = `vb_${'a'.repeat(43)}`;
const ORIGIN = 'https://app.example.com';
const ACCOUNT: Account = { id: 'acct_1', shard: 1, name: 'one', plan: 'pro', unlimited: true };
const REFUSED: LimitState = { kind: 'refused', limit: 10, windowSeconds: 60, retryAfterSeconds: 7 };
const WITH_KEY = { summary: 'for the test', tag: 'Test', auth: 'key', scope: 'any' } as const;

const ROUTES = [
  defineRoute({
    ...WITH_KEY,
    method: 'GET',
    path: '/v1/jobs/:id',
    schema: { answers: {} },
    handle: async () => ({ status: 200, body: {} }),
  }),
  defineRoute({
    ...WITH_KEY,
    auth: 'admin',
    scope: undefined,
    method: 'GET',
    path: '/admin/v1/accounts',
    schema: { answers: {} },
    handle: async () => ({ status: 200, body: {} }),
  }),
];

function openServer(corsAllowedOrigins: string[] = [ORIGIN, 'http://localhost:5173']) {
  const environment = { state: null as LimitState | null };
  const app = buildServer({
    routes: ROUTES,
    auth: {
      findCaller: async (hash) => (hash.equals(hashKey(KEY)) ? callerOf(ACCOUNT) : null),
      adminToken: 'admin-token-of-the-test',
    },
    limits: { admit: async () => environment.state },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
    corsAllowedOrigins,
  });
  const ask = (url: string, headers: Record<string, string> = {}, method: 'GET' | 'PATCH' | 'OPTIONS' = 'GET') =>
    app.inject({ method, url, headers });
  return { ask, environment, [Symbol.asyncDispose]: () => closeServer(app, 0) };
}

const preflightOf = (method: string, origin = ORIGIN) => ({
  origin,
  'access-control-request-method': method,
  'access-control-request-headers': 'authorization,idempotency-key',
});

test('a page of a listed origin reads answers and errors, with the headers of the API', async () => {
  await using server = openServer();
  const asked = { origin: ORIGIN, 'x-api-key': KEY };

  const answers = [await server.ask('/v1/jobs/x', asked)];
  answers.push(await server.ask('/v1/jobs/x', { origin: ORIGIN }));
  answers.push(await server.ask('/v1/nothing', asked));
  answers.push(await server.ask('/v1/jobs/%zz', asked));
  answers.push(await server.ask('/v1/jobs/x', asked, 'PATCH'));
  server.environment.state = REFUSED;
  answers.push(await server.ask('/v1/jobs/x', asked));

  assert.deepEqual(
    answers.map(({ statusCode }) => statusCode),
    [200, 401, 404, 400, 405, 429],
  );
  for (const { headers } of answers) {
    assert.deepEqual([headers['access-control-allow-origin'], headers['vary']], [ORIGIN, 'Origin']);
    const exposed = String(headers['access-control-expose-headers']);
    assert.match(exposed, /X-Request-Id, RateLimit-Limit.*Retry-After, Location, Idempotent-Replayed/);
    assert.equal(headers['access-control-allow-credentials'], undefined);
  }
});

test('a preflight is answered without a key, also for paths and methods that the API lacks', async () => {
  await using server = openServer();
  const paths = [
    ['/v1/jobs/x', 'PATCH'],
    ['/v1/nothing', 'GET'],
    ['/v1/jobs/%zz', 'DELETE'],
  ] as const;

  for (const [url, method] of paths) {
    const { statusCode, headers, body } = await server.ask(url, preflightOf(method), 'OPTIONS');
    assert.deepEqual([statusCode, body, headers['access-control-allow-origin']], [204, '', ORIGIN]);
    assert.ok(String(headers['access-control-allow-methods']).split(', ').includes(method));
    assert.equal(headers['access-control-allow-headers'], 'authorization,idempotency-key');
    assert.deepEqual(
      [headers['access-control-max-age'], headers['vary']],
      ['600', 'Origin, Access-Control-Request-Headers'],
    );
  }
});

test('other origins, other paths and requests without an origin get no permission', async () => {
  await using server = openServer();
  const strangers = ['https://evil.example', `${ORIGIN}.evil.example`, 'https://app.example.com:444', 'null', '*'];

  for (const origin of strangers) {
    for (const method of ['GET', 'OPTIONS'] as const) {
      const { headers } = await server.ask('/v1/jobs/x', { ...preflightOf('GET', origin), 'x-api-key': KEY }, method);
      assert.deepEqual([headers['access-control-allow-origin'], headers['vary']], [undefined, 'Origin']);
    }
  }
  const plain = await server.ask('/v1/jobs/x', { 'x-api-key': KEY });
  const operator = await server.ask('/admin/v1/accounts', preflightOf('GET'), 'OPTIONS');
  assert.deepEqual([plain.headers['access-control-allow-origin'], plain.headers['vary']], [undefined, 'Origin']);
  assert.equal(operator.headers['access-control-allow-origin'], undefined);
});

test('without the setting no answer has a CORS header', async () => {
  await using server = openServer([]);

  const answer = await server.ask('/v1/jobs/x', { origin: ORIGIN, 'x-api-key': KEY });
  const preflight = await server.ask('/v1/jobs/x', preflightOf('GET'), 'OPTIONS');

  for (const { headers } of [answer, preflight]) {
    assert.ok(!Object.keys(headers).some((name) => name === 'vary' || name.startsWith('access-control')));
  }
  assert.equal(preflight.headers.allow, 'GET, HEAD, OPTIONS');
});
