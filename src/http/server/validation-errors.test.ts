import assert from 'node:assert/strict';
import test from 'node:test';
import { openLog } from '../../platform/log.ts';
import { defineRoute } from '../route.ts';
import { oneOf, Type } from '../schema.ts';
import { buildServer, closeServer } from './server.ts';

const segment = Type.Object({ index: Type.Integer(), text: Type.String() }, { additionalProperties: false });

const route = defineRoute({
  method: 'POST',
  path: '/edits',
  auth: 'none',
  summary: 'for the test',
  tag: 'Test',
  schema: {
    query: Type.Object({ created_after: Type.Optional(Type.String()), status: Type.Optional(Type.String()) }),
    body: Type.Object({
      language: Type.Optional(Type.String()),
      audio_url: Type.Optional(Type.String()),
      webhook_url: Type.Optional(Type.String()),
      events: Type.Optional(Type.Array(oneOf(['a', 'b']))),
      segments: Type.Optional(Type.Array(segment)),
      names: Type.Optional(Type.Record(Type.String(), Type.String(), { minProperties: 1 })),
    }),
    answers: {},
  },
  handle: async () => ({ status: 200, body: {} }),
});

const MISTAKES: { body?: object; query?: string; param: string; message: string }[] = [
  { body: { lang: 'en' }, param: 'lang', message: 'There is no field "lang" here. Did you mean language?' },
  { body: { url: '' }, param: 'url', message: 'There is no field "url" here. Did you mean audio_url or webhook_url?' },
  { body: { speed: 2 }, param: 'speed', message: 'There is no field "speed" here; leave it out.' },
  { body: { '': 2 }, param: '', message: 'There is no field "" here; leave it out.' },
  {
    query: '?createdAfter=x',
    param: 'createdAfter',
    message: 'There is no query parameter "createdAfter" here. Did you mean created_after?',
  },
  { body: { names: {} }, param: 'names', message: 'names must not be empty.' },
  { body: { events: ['a', 'c'] }, param: 'events', message: 'events[1] must be one of "a", "b".' },
  {
    body: { segments: [{ index: 0, text: 'a' }, { index: 1 }] },
    param: 'segments.text',
    message: 'segments[1].text is missing; it is required.',
  },
  {
    body: {
      segments: [
        { index: 0, text: 'a' },
        { index: 'b', text: 'b' },
      ],
    },
    param: 'segments.index',
    message: 'segments[1].index must be an integer.',
  },
  {
    body: { segments: [{ index: 0, text: 'a', txt: 'b' }] },
    param: 'segments.txt',
    message: 'There is no field "segments[0].txt" here. Did you mean text?',
  },
  {
    body: { ['x'.repeat(300)]: 1 },
    param: 'x'.repeat(200),
    message: `There is no field "${'x'.repeat(200)}" here; leave it out.`,
  },
];
for (const { body = {}, query = '', param, message } of MISTAKES) {
  test(`${JSON.stringify(body).slice(0, 60)}${query} is refused with the entry at fault and what may be meant`, async () => {
    const app = buildServer({
      routes: [route],
      auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
      limits: { admit: async () => null },
      log: openLog('silent'),
      metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
    });
    await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };

    const answer = await app.inject({ method: 'POST', url: `/edits${query}`, payload: body });

    const { error } = answer.json() as { error: { message: string; param: string } };
    assert.deepEqual([answer.statusCode, error.param, error.message], [400, param, message]);
  });
}
