import assert from 'node:assert/strict';
import test from 'node:test';
import { Compile } from 'typebox/schema';
import { callerOf } from '../../test/fixtures/caller.ts';
import { buildServer } from '../http/server/server.ts';
import { openLog } from '../platform/log.ts';
import { eventTypeRoutes } from './event-type-routes.ts';
import { EVENT_TYPES } from './events/event-types.ts';

const account = { id: 'acct_1', shard: 1, name: 'one', plan: 'lite' as const, unlimited: true };

test('every event type is listed, with an example that its schema accepts', async () => {
  await using app = buildServer({
    routes: eventTypeRoutes(),
    auth: { findCaller: async () => callerOf(account), adminToken: 'unused' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });

  const answer = await app.inject({ url: '/v1/event-types', headers: { 'x-api-key': `vb_${'a'.repeat(43)}` } });
  const types = answer.json().data as { type: string; schema: object; example: { type: string } }[];

  assert.equal(answer.statusCode, 200);
  assert.deepEqual(
    types.map(({ type }) => type),
    EVENT_TYPES,
  );
  for (const { type, schema, example } of types) {
    assert.doesNotMatch(JSON.stringify(schema), /\$ref|x-component|x-documented/);
    assert.deepEqual([Compile(schema).Check(example), example.type], [true, type], type);
    assert.equal(Compile(schema).Check({ ...example, data: {} }), false, type);
  }
});
