import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../test/fixtures/account.ts';
import { deleteEndedSessions } from '../keys/session-store.ts';
import { findUsableKeys } from '../keys/usable-keys.ts';

type Fixture = Awaited<ReturnType<typeof openAccountFixture>>;
type Session = { id: string; cookie: string };

const HOUR_MS = 3_600_000;
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

/** Sends a request with these headers, as a browser does. */
async function send(fixture: Fixture, method: 'GET' | 'POST' | 'DELETE', url: string, headers: Record<string, string>) {
  const answer = await fixture.app.inject({ method, url, headers });
  return {
    status: answer.statusCode,
    body: answer.body === '' ? null : answer.json(),
    setCookie: answer.headers['set-cookie'] as string | undefined,
  };
}

/** Signs in, and returns the cookie as browsers send it. */
async function signIn(fixture: Fixture, key: string, headers: Record<string, string> = {}): Promise<Session> {
  const { status, body, setCookie } = await send(fixture, 'POST', '/v1/session', { 'x-api-key': key, ...headers });
  assert.equal(status, 201);
  return { id: body.id, cookie: setCookie!.split(';')[0]! };
}

const asSession = ({ id, cookie }: Session) => ({ cookie, 'x-session-id': id, ...OWN_PAGE });

async function statusOf(fixture: Fixture, { cookie }: Session): Promise<number> {
  return (await send(fixture, 'GET', '/v1/account', { cookie })).status;
}

test('a key is exchanged for a session of 12 hours, of which the database has a hash only', async () => {
  await using fixture = await openAccountFixture();
  const { id, key, keyId } = await fixture.account();

  const made = await send(fixture, 'POST', '/v1/session', { 'x-api-key': key, origin: 'http://127.0.0.1:8080' });

  const [, token] = /^verbatim_session=([\w-]{43}); Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/.exec(
    made.setCookie!,
  )!;
  const cookie = `other=1; verbatim_session=${token}`;
  const shown = await send(fixture, 'GET', '/v1/session', { cookie });
  const account = await send(fixture, 'GET', '/v1/account', { cookie });
  assert.deepEqual([made.status, shown.status, shown.body], [201, 200, made.body]);
  assert.deepEqual([made.body.account_id, made.body.key_id, account.body.id], [id, keyId, id]);
  assert.equal(Date.parse(made.body.expires_at) - Date.parse(made.body.created_at), 12 * HOUR_MS);
  const rows = await fixture.db.rows({ text: 'select s::text from sessions s' });
  assert.equal(rows.length, 1);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(token!));
});

test('by HTTPS the cookie is Secure, and of this host only', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();

  const headers = { 'x-api-key': key, origin: 'https://speech.example.com' };
  const { setCookie } = await send(fixture, 'POST', '/v1/session', headers);

  assert.match(setCookie!, /^__Host-verbatim_session=[\w-]{43}; Path=\/; .*; Secure$/);
  assert.equal((await send(fixture, 'GET', '/v1/account', { cookie: setCookie!.split(';')[0]! })).status, 200);
});

const OTHER_PAGES: [string, Record<string, string>][] = [
  ['without X-Session-Id', { ...OWN_PAGE }],
  ['with the id of another session', { ...OWN_PAGE, 'x-session-id': 'ses_01kamz2f3q8r5t7v9wxyzabcde' }],
  ['of another origin of the site', { 'sec-fetch-site': 'same-site' }],
  ['of another site', { 'sec-fetch-site': 'cross-site' }],
  ['with another Origin', { origin: 'http://localhost:81' }],
  ['without a word about its page', {}],
];

for (const [what, headers] of OTHER_PAGES) {
  test(`a request ${what} changes nothing by the cookie alone`, async () => {
    await using fixture = await openAccountFixture();
    const { key, keyId } = await fixture.account();
    const session = await signIn(fixture, key);
    const given = { cookie: session.cookie, 'x-session-id': session.id, ...headers };
    if (what === 'without X-Session-Id') delete (given as Partial<typeof given>)['x-session-id'];

    const made = await send(fixture, 'POST', '/v1/keys', given);
    const deleted = await send(fixture, 'DELETE', `/v1/keys/${keyId}`, given);
    const signedOut = await send(fixture, 'DELETE', '/v1/session', given);

    assert.deepEqual([made.status, deleted.status, signedOut.status], [401, 401, 401]);
    assert.deepEqual(
      [await statusOf(fixture, session), (await fixture.askAs(key, 'GET', '/v1/keys')).body.data.length],
      [200, 1],
    );
  });
}

test('a page of the service changes things by the cookie and X-Session-Id', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const session = await signIn(fixture, key);
  const { cookie, id } = session;

  const modern = await send(fixture, 'POST', '/v1/keys', asSession(session));
  const old = { cookie, 'x-session-id': id, origin: 'http://localhost:80', host: 'localhost:80' };
  const byOrigin = await send(fixture, 'POST', '/v1/keys', old);

  assert.deepEqual([modern.status, byOrigin.status], [201, 201]);
});

test('a page of another origin of the site reads nothing by the cookie', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const { cookie } = await signIn(fixture, key);

  const answers = await Promise.all(
    ['same-site', 'cross-site', 'none', 'same-origin'].map((site) =>
      send(fixture, 'GET', '/v1/keys', { cookie, 'sec-fetch-site': site }),
    ),
  );

  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 200, 200],
  );
});

test('a key in the request goes before the cookie, as if there were none', async () => {
  await using fixture = await openAccountFixture();
  const [one, two] = [await fixture.account(), await fixture.account()];
  const { cookie } = await signIn(fixture, one.key);

  const account = await send(fixture, 'GET', '/v1/account', { cookie, 'x-api-key': two.key });
  const made = await send(fixture, 'POST', '/v1/keys', { cookie, authorization: `Bearer ${two.key}` });
  const wrong = await send(fixture, 'GET', '/v1/account', { cookie, 'x-api-key': `vb_${'x'.repeat(49)}` });

  assert.deepEqual([account.body.id, made.status, wrong.status], [two.id, 201, 401]);
});

test('a session has the scopes of its key', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account(undefined, { scopes: ['usage:read'] });
  const session = await signIn(fixture, key);

  const refused = await send(fixture, 'GET', '/v1/keys', asSession(session));
  const allowed = await send(fixture, 'GET', '/v1/balance', asSession(session));

  assert.deepEqual([refused.status, refused.body.error.type, allowed.status], [403, 'missing_scope', 200]);
});

test('signing out ends the session here, and the cookie in the browser', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const [session, other] = [await signIn(fixture, key), await signIn(fixture, key)];

  const signedOut = await send(fixture, 'DELETE', '/v1/session', asSession(session));

  assert.deepEqual([signedOut.status, signedOut.setCookie?.split(';')[0]], [204, 'verbatim_session=']);
  assert.match(signedOut.setCookie!, /Max-Age=0;/);
  assert.deepEqual([await statusOf(fixture, session), await statusOf(fixture, other)], [401, 200]);
});

const ENDS: [string, (fixture: Fixture, owner: { id: string; keyId: string }) => Promise<unknown>, number][] = [
  ['its key is revoked', (fixture, { keyId }) => fixture.ask('DELETE', `/admin/v1/keys/${keyId}`), 401],
  ['its key expires', ({ db }) => db.run({ text: 'update api_keys set expires_at = now()' }), 401],
  ['its 12 hours are over', ({ db }) => db.run({ text: 'update sessions set expires_at = now()' }), 401],
  ['its account is suspended', ({ db }) => db.run({ text: 'update accounts set suspended_at = now()' }), 403],
];

for (const [what, end, status] of ENDS) {
  test(`a session and its streams end when ${what}`, async () => {
    await using fixture = await openAccountFixture();
    const owner = await fixture.account();
    const session = await signIn(fixture, owner.key);
    const [row] = await fixture.db.rows<{ shard: number }>({ text: 'select shard from sessions' });
    const streams = [{ ...row!, id: owner.keyId, accountId: owner.id, sessionId: session.id }];
    assert.deepEqual(await findUsableKeys(fixture.db, streams), streams);

    await end(fixture, owner);

    assert.equal(await statusOf(fixture, session), status);
    assert.deepEqual(await findUsableKeys(fixture.db, streams), []);
  });
}

test('signing out ends the streams of the session, not those of its key', async () => {
  await using fixture = await openAccountFixture();
  const { id: accountId, key, keyId: id } = await fixture.account();
  const session = await signIn(fixture, key);
  const [row] = await fixture.db.rows<{ shard: number }>({ text: 'select shard from sessions' });
  const streams = [session.id, null].map((sessionId) => ({ ...row!, id, accountId, sessionId }));

  await send(fixture, 'DELETE', '/v1/session', asSession(session));

  assert.deepEqual(await findUsableKeys(fixture.db, streams), [streams[1]]);
});

test('a session ends no later than its key', async () => {
  await using fixture = await openAccountFixture();
  const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
  const { key } = await fixture.account(undefined, { expires_at: expiresAt });

  const { body, setCookie } = await send(fixture, 'POST', '/v1/session', { 'x-api-key': key });

  assert.equal(body.expires_at, expiresAt);
  const [, seconds] = /Max-Age=(\d+)/.exec(setCookie!)!;
  assert.ok(Number(seconds) > 3_590 && Number(seconds) <= 3_600, seconds);
});

test('a session does not begin another, and a sign-in ends the session that the browser had', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const session = await signIn(fixture, key);

  const prolonged = await send(fixture, 'POST', '/v1/session', asSession(session));
  const next = await signIn(fixture, key, { cookie: session.cookie });

  assert.equal(prolonged.status, 401);
  assert.deepEqual([await statusOf(fixture, session), await statusOf(fixture, next)], [401, 200]);
});

test('an API key has no session', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();

  const answers = [await fixture.askAs(key, 'GET', '/v1/session'), await fixture.askAs(key, 'DELETE', '/v1/session')];

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error.message]),
    Array(2).fill([401, 'This needs the cookie of a session; an API key has none.']),
  );
});

test('of more than 100 sessions of a key the oldest end', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();

  const first = await signIn(fixture, key);
  const second = await signIn(fixture, key);
  for (let count = 2; count < 101; count++) await signIn(fixture, key);

  assert.deepEqual([await statusOf(fixture, first), await statusOf(fixture, second)], [401, 200]);
});

test('ended sessions are deleted in batches', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  for (let count = 0; count < 3; count++) await signIn(fixture, key);
  await fixture.db.run({ text: 'update sessions set expires_at = now()' });
  const current = await signIn(fixture, key);

  const deleted = [await deleteEndedSessions(fixture.db, 2), await deleteEndedSessions(fixture.db, 2)];

  assert.deepEqual([deleted, await statusOf(fixture, current)], [[2, 1], 200]);
});
