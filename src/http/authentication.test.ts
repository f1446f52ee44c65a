import assert from 'node:assert/strict';
import test from 'node:test';
import { callerOf } from '../../test/fixtures/caller.ts';
import type { EndedKey } from '../accounts/account.ts';
import { openLog } from '../platform/log.ts';
import { defineRoute } from './route.ts';
import { buildServer, closeServer } from './server/server.ts';

const KEY = `vb_${'a'.repeat(43)}`;
const ENDED_AT = new Date('2026-11-21T09:30:00.000Z');

const route = defineRoute({
  method: 'GET',
  path: '/v1/jobs',
  auth: 'key',
  scope: 'any',
  summary: 'for the test',
  tag: 'Test',
  schema: { answers: {} },
  handle: async () => ({ status: 200, body: {} }),
});

/** The refusal of a request, and its line in the log. */
async function refuse(url: string, headers: Record<string, string>, ended: EndedKey | null = null) {
  const lines: Record<string, unknown>[] = [];
  const log = openLog('silent');
  log.info = ((line: Record<string, unknown>) => lines.push(line)) as unknown as typeof log.info;
  const app = buildServer({
    routes: [route],
    auth: { findCaller: async () => null, findEndedKey: async () => ended, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    log,
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };
  const answer = await app.inject({ method: 'GET', url, headers });
  assert.equal(answer.statusCode, 401);
  return { message: answer.json().error.message as string, line: lines[0]! };
}

const WITHOUT_KEY: { what: string; query?: string; headers?: Record<string, string>; message: RegExp }[] = [
  { what: 'no key', message: /^Send your API key in the header X-API-Key\.$/ },
  { what: 'a key without Bearer', headers: { authorization: KEY }, message: /Authorization: Bearer <API_KEY>/ },
  { what: 'Basic', headers: { authorization: 'Basic YTpi' }, message: /Authorization: Bearer <API_KEY>/ },
  { what: 'Bearer and no key', headers: { authorization: 'Bearer' }, message: /Authorization: Bearer <API_KEY>/ },
  { what: 'a key in the query', query: `?api_key=${KEY}`, message: /not read from the query.* header X-API-Key\.$/ },
  { what: 'a token in the query', query: `?limit=3&access_token=${KEY}`, message: /not read from the query/ },
];
for (const { what, query = '', headers = {}, message } of WITHOUT_KEY) {
  test(`a request with ${what} is told where the key belongs`, async () => {
    assert.match((await refuse(`/v1/jobs${query}`, headers)).message, message);
  });
}

const owner = { keyId: 'key_1', accountId: 'acct_1', endedAt: ENDED_AT };
const logged = { key_id: 'key_1', account: 'acct_1', ended_at: ENDED_AT.toISOString() };
const NOTHING = { key_id: undefined, account: undefined, ended_at: undefined };
const REFUSED: { ended: EndedKey | null; message: RegExp; line: object }[] = [
  { ended: null, message: /unknown or was revoked/, line: { refused_key: 'unknown' } },
  {
    ended: { kind: 'revoked', ...owner },
    message: /unknown or was revoked/,
    line: { refused_key: 'revoked', ...logged },
  },
  {
    ended: { kind: 'expired', ...owner },
    message: /expired at 2026-11-21T09:30:00\.000Z/,
    line: { refused_key: 'expired', ...logged },
  },
];
for (const { ended, message, line } of REFUSED) {
  test(`the log names the reason for which a key is refused: ${ended?.kind ?? 'unknown'}`, async () => {
    const refused = await refuse('/v1/jobs', { 'x-api-key': KEY }, ended);

    const { refused_key, key_id, account, ended_at } = refused.line;
    assert.deepEqual({ refused_key, key_id, account, ended_at }, { ...NOTHING, ...line });
    assert.match(refused.message, message);
  });
}

test('at its end an upload is refused whose session has ended, although the key behind the session is valid', async () => {
  const account = { id: 'acct_1', shard: 1, name: 'one', plan: 'pro' as const, unlimited: true };
  const caller = { ...callerOf(account), sessionId: 'ses_1' };
  let hasEnded = false;
  const upload = defineRoute({
    ...route,
    method: 'POST',
    schema: { answers: { 204: null } },
    async handle(call) {
      hasEnded = true;
      await call.checkCaller();
      return { status: 204 as const };
    },
  });
  const app = buildServer({
    routes: [upload],
    auth: {
      findCaller: async () => null,
      findCallerBySession: async () => (hasEnded ? null : caller),
      adminToken: 'token-of-the-test',
    },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
  await using _server = { [Symbol.asyncDispose]: () => closeServer(app, 0) };

  const headers = {
    cookie: `verbatim_session=${'a'.repeat(43)}`,
    'x-session-id': 'ses_1',
    'sec-fetch-site': 'same-origin',
  };
  const answer = await app.inject({ method: 'POST', url: '/v1/jobs', headers });

  assert.deepEqual([answer.statusCode, answer.json().error.message], [401, 'The session has ended; sign in again.']);
});
