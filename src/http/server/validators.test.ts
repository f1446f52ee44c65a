import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import test from 'node:test';
import { openLog } from '../../platform/log.ts';
import { defineRoute } from '../route.ts';
import { Type } from '../schema.ts';
import { buildServer, closeServer } from './server.ts';

const route = defineRoute({
  method: 'GET',
  path: '/state',
  auth: 'none',
  summary: 'for the test',
  tag: 'Test',
  schema: { query: Type.Object({}, { additionalProperties: false }), answers: {} },
  handle: async () => ({ status: 200, body: {} }),
});

test('Ajv is loaded for the first request with parameters, not for those of a route that has none', async () => {
  const app = buildServer({
    routes: [route],
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };
  const { cache } = createRequire(import.meta.url);
  const isLoaded = () => Object.keys(cache).some((file) => file.includes('/ajv/dist/ajv.js'));

  const plain = await app.inject({ url: '/state' });
  const before = isLoaded();
  const unknown = await app.inject({ url: '/state?limit=1' });

  assert.deepEqual([plain.statusCode, before], [200, false]);
  assert.deepEqual([unknown.statusCode, isLoaded()], [400, true]);
});
