import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openLog } from '../../platform/log.ts';
import { defineRoute } from '../route.ts';
import { Type } from '../schema.ts';
import { buildServer, closeServer } from './server.ts';

const COMMON = {
  method: 'POST',
  auth: 'none',
  summary: 'for the test',
  tag: 'Test',
  schema: { answers: {}, body: Type.Object({ metadata: Type.Unknown() }) },
} as const;
const ROUTES = [
  defineRoute({
    ...COMMON,
    path: '/text',
    keepsBodyText: true,
    handle: async ({ bodyText }) => ({ status: 200, body: bodyText, contentType: 'text/plain' }),
  }),
  defineRoute({ ...COMMON, path: '/value', handle: async ({ bodyText }) => ({ status: 200, body: { bodyText } }) }),
];

test('a route that keeps the text of the body gets it as it was written, with U+0000 as an escape', async () => {
  const app = buildServer({
    routes: ROUTES,
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };
  const send = (url: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload });
  const written = '{ "metadata": { "n": 1.10, "nul": "\\u0000" }\n}';

  const kept = await send('/text', written);
  const refused = await send('/value', written);
  const without = await send('/value', '{"metadata":1}');

  assert.deepEqual([kept.statusCode, kept.body], [200, written]);
  assert.equal(refused.statusCode, 400);
  assert.deepEqual(without.json(), { bodyText: '' });
});

test('half of a surrogate pair in a field is refused, and kept where the text of the body is', async () => {
  const app = buildServer({
    routes: ROUTES,
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };
  const send = (url: string, payload: string) =>
    app.inject({ method: 'POST', url, headers: { 'content-type': 'application/json' }, payload });

  for (const half of ['"a\\ud800b"', '{"deep": ["\\uDFFF"]}', '{"\\ud800": 1}']) {
    const refused = await send('/value', `{"metadata": ${half}}`);
    assert.equal(refused.statusCode, 400);
    assert.equal(refused.json().error.param, 'metadata');
    assert.match(refused.json().error.message, /half of a surrogate pair/);
    assert.equal((await send('/text', `{"metadata": ${half}}`)).statusCode, 200);
  }
  assert.equal((await send('/value', '{"metadata": "\\ud83d\\ude00 \\\\ud800"}')).statusCode, 200);
});
