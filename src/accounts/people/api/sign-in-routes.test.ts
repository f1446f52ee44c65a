import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture, SECRETS_KEY } from '../../../../test/fixtures/account.ts';
import {
  type Browser,
  begin,
  type Fixture,
  invite,
  join,
  me,
  OWNER,
  PASSWORD,
  send,
  setUp,
  signIn,
  statusOf,
} from '../../../../test/fixtures/people.ts';
import { setupTokenOf } from '../credentials/setup-token.ts';

const errorOf = ({ status, body }: { status: number; body: { error: { type: string; param?: string } } }) => [
  status,
  body.error.type,
  body.error.param,
];

test('the first visit makes an owner, who is an operator, and holds only while there is no user', async () => {
  await using fixture = await openAccountFixture();
  const before = (await send(fixture, null, 'GET', '/v1/sign-in')).body;
  const wrong = await send(fixture, null, 'POST', '/v1/setup', { token: 'x', ...OWNER });

  const owner = await setUp(fixture, { account_name: 'Acme' });

  const again = await send(fixture, null, 'POST', '/v1/setup', { token: setupTokenOf(SECRETS_KEY), ...OWNER });
  const { accounts, account_id: accountId, ...own } = await me(fixture, owner);
  assert.deepEqual(before, { setup: true, password: true, oidc: null });
  assert.deepEqual((await send(fixture, null, 'GET', '/v1/sign-in')).body.setup, false);
  assert.deepEqual(errorOf(wrong), [401, 'unauthenticated', 'token']);
  assert.deepEqual(errorOf(again), [409, 'conflict', undefined]);
  assert.deepEqual(own, {
    id: own.id,
    name: 'Olga',
    email: 'olga@example.com',
    has_password: true,
    operator: true,
    role: 'owner',
  });
  assert.deepEqual(accounts, [{ id: accountId, name: 'Acme', role: 'owner' }]);
  assert.equal(await statusOf(fixture, owner, 'GET', '/admin/v1/accounts'), 200);
});

test('of two first visits at once one makes the owner', async () => {
  await using fixture = await openAccountFixture();
  const body = (email: string) => ({ token: setupTokenOf(SECRETS_KEY), ...OWNER, email });

  const answers = await Promise.all(
    ['a@example.com', 'b@example.com'].map((email) => send(fixture, null, 'POST', '/v1/setup', body(email))),
  );

  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
});

test('a password signs in, whatever the case of the email; the database has argon2id of it only', async () => {
  await using fixture = await openAccountFixture();
  await setUp(fixture);

  const browser = await signIn(fixture, 'OLGA@example.COM');

  assert.equal((await me(fixture, browser)).name, 'Olga');
  const [row] = await fixture.db.rows<{ hash: string }>({ text: 'select password_hash as hash from users' });
  assert.match(row!.hash, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  const text = JSON.stringify(await fixture.db.rows({ text: 'select u::text, s::text from users u, sessions s' }));
  assert.doesNotMatch(text, new RegExp(`${PASSWORD}|${browser.cookie.split('=')[1]}`));
});

test('an email and a password with an accent are the same however the accent is written', async () => {
  await using fixture = await openAccountFixture();
  await setUp(fixture, { email: 'zoe\u0308@example.com', password: 'Zoe\u0308 and the horse' });

  const { id } = await signIn(fixture, 'ZO\u00cb@example.com', 'Zo\u00eb and the horse');

  assert.match(id, /^ses_/);
});

test('a wrong password and an unknown email get the same answer', async () => {
  await using fixture = await openAccountFixture();
  await setUp(fixture);

  const answers = await Promise.all(
    [OWNER.email, 'nobody@example.com'].map((email) =>
      send(fixture, null, 'POST', '/v1/sign-in', { email, password: 'not the password' }),
    ),
  );

  const [known, unknown] = answers.map(({ status, body }) => [status, body.error]);
  assert.deepEqual(known, unknown);
  assert.equal(known![0], 401);
});

test('after 10 wrong passwords in a minute an address is refused for an email, with the right password too', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  await join(fixture, owner, 'member');
  const attempt = (email: string, password = 'wrong') =>
    send(fixture, null, 'POST', '/v1/sign-in', { email, password });

  const wrong = await Promise.all(Array.from({ length: 10 }, () => attempt(OWNER.email)));
  const refused = await attempt(OWNER.email, PASSWORD);
  const other = await attempt('member@example.com', PASSWORD);

  assert.deepEqual(new Set(wrong.map(({ status }) => status)), new Set([401]));
  assert.deepEqual([refused.status, refused.body.error.type, other.status], [429, 'rate_limited', 201]);
  assert.ok(refused.body.retry_after >= 1 && refused.body.retry_after <= 60);
});

test('a browser that has signed in is let in by the right password while others use up the limit', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  await join(fixture, owner, 'member');
  const first = await send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD });
  const cookie = `verbatim_browser=${first.known?.value}`;
  const attempt = (email: string, password: string, known = cookie) =>
    send(fixture, { id: '', cookie: known }, 'POST', '/v1/sign-in', { email, password });
  for (let i = 0; i < 10; i++) {
    await attempt(OWNER.email, 'wrong', '');
    await attempt('member@example.com', 'wrong', '');
  }

  const statuses = [
    await attempt(OWNER.email, PASSWORD, ''),
    await attempt(OWNER.email, PASSWORD, `${cookie.slice(0, -1)}_`),
    await attempt('member@example.com', PASSWORD),
    await attempt(OWNER.email, 'wrong'),
    await attempt(OWNER.email, PASSWORD),
  ].map(({ status }) => status);

  assert.deepEqual(statuses, [429, 429, 429, 401, 201]);
  assert.deepEqual(
    [first.known?.['httpOnly'], first.known?.['sameSite'], first.known?.['path']],
    [true, 'Strict', '/'],
  );
});

test('sign-ins with the right password are not limited', async () => {
  await using fixture = await openAccountFixture();
  await setUp(fixture);

  for (let count = 0; count < 12; count++) {
    const answer = await send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD });
    assert.equal(answer.status, 201);
  }
});

test('after 60 wrong tokens in a minute those of an address are refused; a right one and a password are not', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const token = await invite(fixture, owner, { role: 'member' });
  const attempt = (given: string) => send(fixture, null, 'POST', '/v1/invitations/open', { token: given });

  for (let count = 0; count < 60; count++) assert.equal((await attempt('x')).status, 404);

  assert.equal((await attempt('x')).status, 429);
  assert.equal((await attempt(token)).status, 200);
  const password = await send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD });
  assert.equal(password.status, 201);
});

const FORWARDED: [string, Record<string, string>, number[]][] = [
  ['is not read by default', {}, [404, 429, 429]],
  ['counts where a trusted proxy sends it', { TRUSTED_PROXIES: '192.0.2.1, 127.0.0.0/8' }, [404, 404, 404]],
  ['is not read from another', { TRUSTED_PROXIES: '192.0.2.1' }, [404, 429, 429]],
];

for (const [what, env, expected] of FORWARDED) {
  test(`the X-Forwarded-For of a sign-in ${what}`, async () => {
    await using fixture = await openAccountFixture({ env });
    const attempt = async (forwarded: string) => {
      const headers = { 'x-forwarded-for': forwarded };
      const payload = { token: 'x' };
      const answer = await fixture.app.inject({ method: 'POST', url: '/v1/invitations/open', headers, payload });
      return answer.statusCode;
    };
    // What the client itself sends stands before what the proxy adds.
    for (let count = 0; count < 59; count++) await attempt(`203.0.113.${count}, 198.51.100.7`);

    const found = [
      await attempt('203.0.113.99, 198.51.100.7'),
      await attempt('198.51.100.7, 198.51.100.8'),
      await attempt('no address'),
    ];

    assert.deepEqual(found, expected);
  });
}

for (const headers of [
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
  { origin: 'http://evil' },
]) {
  test(`a page elsewhere cannot sign a browser in: ${JSON.stringify(headers)}`, async () => {
    await using fixture = await openAccountFixture();
    await setUp(fixture);
    const payload = { email: OWNER.email, password: PASSWORD };

    const answer = await fixture.app.inject({ method: 'POST', url: '/v1/sign-in', headers, payload });

    assert.deepEqual([answer.statusCode, answer.headers['set-cookie']], [401, undefined]);
  });
}

test('an invitation makes a user with its role, once, and shows what it is for', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture, { account_name: 'Acme' });
  const token = await invite(fixture, owner, { role: 'viewer', email: 'Vera@example.com' });
  const accept = (email: string) => ({ token, email, password: PASSWORD, name: 'Vera' });

  const opened = await send(fixture, null, 'POST', '/v1/invitations/open', { token });
  const wrong = await send(fixture, null, 'POST', '/v1/invitations/accept', accept('other@example.com'));
  const vera = await begin(fixture, '/v1/invitations/accept', accept('vera@EXAMPLE.com'));
  const again = await send(fixture, null, 'POST', '/v1/invitations/accept', accept('vera@example.com'));

  const { expires_at: expiresAt, ...shown } = opened.body;
  assert.deepEqual(shown, { account_name: 'Acme', role: 'viewer', email: 'vera@example.com' });
  assert.ok(Math.abs(Date.parse(expiresAt) - Date.now() - 7 * 86_400_000) < 60_000);
  assert.deepEqual(errorOf(wrong), [400, 'invalid_request', 'email']);
  assert.deepEqual(errorOf(again), [404, 'not_found', undefined]);
  const { role, operator, email } = await me(fixture, vera);
  assert.deepEqual([role, operator, email], ['viewer', false, 'vera@example.com']);
  assert.equal(await statusOf(fixture, vera, 'GET', '/admin/v1/accounts'), 401);
});

const USELESS: [string, (fixture: Fixture, owner: Browser, id: string) => Promise<unknown>][] = [
  ['is deleted', (fixture, owner, id) => send(fixture, owner, 'DELETE', `/v1/invitations/${id}`)],
  ['is older than 7 days', ({ db }) => db.run({ text: 'update invitations set expires_at = now()' })],
];

for (const [what, end] of USELESS) {
  test(`an invitation that ${what} is good for nothing, and not listed`, async () => {
    await using fixture = await openAccountFixture();
    const owner = await setUp(fixture);
    const token = await invite(fixture, owner, { role: 'member' });
    const list = async () => (await send(fixture, owner, 'GET', '/v1/invitations')).body.data;
    const [{ id }] = await list();

    await end(fixture, owner, id);

    const body = { token, email: 'm@example.com', password: PASSWORD, name: 'M' };
    assert.equal((await send(fixture, null, 'POST', '/v1/invitations/accept', body)).status, 404);
    assert.deepEqual(await list(), []);
  });
}

test('of two who accept an invitation at once one is let in', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const token = await invite(fixture, owner, { role: 'member' });
  const accept = (name: string) => {
    const body = { token, name, password: PASSWORD, email: `${name}@example.com` };
    return send(fixture, null, 'POST', '/v1/invitations/accept', body);
  };

  const answers = await Promise.all([accept('a'), accept('b')]);

  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [201, 404]);
  assert.equal((await send(fixture, owner, 'GET', '/v1/users')).body.data.length, 2);
});

test('a new user needs a name and a password of 12 characters', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const token = await invite(fixture, owner, { role: 'member' });
  const accept = (fields: object) =>
    send(fixture, null, 'POST', '/v1/invitations/accept', { token, email: 'm@example.com', ...fields });

  const short = await accept({ name: 'M', password: 'elevenchars' });
  const nameless = await accept({ password: PASSWORD });

  assert.deepEqual(errorOf(short), [400, 'invalid_request', 'password']);
  assert.deepEqual(errorOf(nameless), [401, 'unauthenticated', undefined]);
  assert.match(nameless.body.error.message, /Somebody new gives a name too/);
});

test('a user who exists joins another account by the password, not without it, and goes from one to the other', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture, { account_name: 'Acme' });
  const member = await join(fixture, owner, 'member');
  const other = (await fixture.ask('POST', '/admin/v1/accounts', { name: 'Beta', plan: 'lite' })).body;
  const invited = await fixture.ask('POST', `/admin/v1/accounts/${other.id}/invitations`, { role: 'owner' });
  const accept = { token: invited.body.url.slice('/#invitation='.length), email: 'member@example.com' };

  const wrong = await send(fixture, null, 'POST', '/v1/invitations/accept', { ...accept, password: 'not it at all' });
  const joined = await begin(fixture, '/v1/invitations/accept', { ...accept, password: PASSWORD });
  const back = await begin(fixture, '/v1/me/account', { account_id: (await me(fixture, member)).account_id }, joined);
  const elsewhere = await send(fixture, owner, 'POST', '/v1/me/account', { account_id: other.id });

  assert.equal(wrong.status, 401);
  const { accounts, role, id } = await me(fixture, back);
  assert.deepEqual([id, role], [member.userId, 'member']);
  assert.deepEqual(accounts.map(({ name, role }: { name: string; role: string }) => `${name} ${role}`).sort(), [
    'Acme member',
    'Beta owner',
  ]);
  assert.equal(await statusOf(fixture, joined, 'GET', '/v1/me'), 401);
  assert.deepEqual(errorOf(elsewhere), [404, 'not_found', 'account_id']);
});

test('a user of a suspended account signs out, goes to another account, and begins there', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const member = await join(fixture, owner, 'member');
  const { account_id: suspended } = await me(fixture, member);
  const other = (await fixture.ask('POST', '/admin/v1/accounts', { name: 'Beta', plan: 'lite' })).body;
  const { body } = await fixture.ask('POST', `/admin/v1/accounts/${other.id}/invitations`, { role: 'viewer' });
  const accept = { token: body.url.slice('/#invitation='.length), email: 'member@example.com', password: PASSWORD };
  await begin(fixture, '/v1/invitations/accept', accept);
  const [here, elsewhere] = [await begin(fixture, '/v1/me/account', { account_id: suspended }, member), owner];
  await statusOf(fixture, here, 'GET', '/v1/balance');
  await fixture.ask('POST', `/admin/v1/accounts/${suspended}/suspend`);

  assert.equal(await statusOf(fixture, here, 'GET', '/v1/balance'), 403);
  assert.equal((await me(fixture, here)).accounts.length, 2);
  const there = await begin(fixture, '/v1/me/account', { account_id: other.id }, here);
  assert.equal(await statusOf(fixture, there, 'GET', '/v1/balance'), 200);
  await fixture.db.run({ text: 'update api_keys set last_used_at = null where account_id <> $1', values: [suspended] });
  assert.equal((await me(fixture, await signIn(fixture, 'member@example.com'))).account_id, other.id);
  assert.equal(await statusOf(fixture, elsewhere, 'DELETE', '/v1/session'), 204);
});

test('a session ends 7 days after the sign-in, also by way of another account', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const { account_id: accountId } = await me(fixture, owner);
  await fixture.db.run({ text: "update sessions set expires_at = now() + interval '1 hour'" });

  const next = await begin(fixture, '/v1/me/account', { account_id: accountId }, owner);

  const { body } = await send(fixture, next, 'GET', '/v1/session');
  assert.ok(Date.parse(body.expires_at) < Date.now() + 3_700_000, body.expires_at);
});

test("an operator's invitation for an email sets a new password and ends the sessions; an owner's does not", async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const member = await join(fixture, owner, 'member');
  const { account_id: accountId } = await me(fixture, owner);
  const fields = { role: 'member', email: 'member@example.com' };
  const accept = { email: 'member@example.com', password: 'a wholly new password' };

  const byOwner = await invite(fixture, owner, fields);
  const refused = await send(fixture, null, 'POST', '/v1/invitations/accept', { token: byOwner, ...accept });
  const made = await fixture.ask('POST', `/admin/v1/accounts/${accountId}/invitations`, fields);
  const token = made.body.url.slice('/#invitation='.length);
  const fresh = await begin(fixture, '/v1/invitations/accept', { token, ...accept });

  assert.equal(refused.status, 401);
  assert.deepEqual((await me(fixture, fresh)).id, member.userId);
  assert.equal(await statusOf(fixture, member, 'GET', '/v1/me'), 401);
  await signIn(fixture, 'member@example.com', accept.password);
});

test("an operator's invitation makes another operator where it says so", async () => {
  await using fixture = await openAccountFixture();
  const { account_id: accountId } = await me(fixture, await setUp(fixture));
  const operators: boolean[] = [];

  for (const operator of [true, false]) {
    const fields = { role: 'viewer', operator };
    const { body } = await fixture.ask('POST', `/admin/v1/accounts/${accountId}/invitations`, fields);
    const token = body.url.slice('/#invitation='.length);
    const accept = { token, email: `${operator}@example.com`, name: 'O', password: PASSWORD };
    operators.push((await me(fixture, await begin(fixture, '/v1/invitations/accept', accept))).operator);
  }

  assert.deepEqual(operators, [true, false]);
});

test('an account has at most 100 open invitations', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  for (let count = 0; count < 100; count++) await invite(fixture, owner, { role: 'viewer' });

  const full = await send(fixture, owner, 'POST', '/v1/invitations', { role: 'viewer' });
  await fixture.db.run({ text: 'update invitations set expires_at = now()' });
  await invite(fixture, owner, { role: 'viewer' });

  assert.equal(full.status, 409);
});
