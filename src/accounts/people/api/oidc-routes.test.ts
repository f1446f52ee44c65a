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
} from '../../../../test/fixtures/people.ts';
import { CLIENT, openOpenIdProvider, type Person } from '../../../../test/fixtures/servers/openid-provider.ts';
import { setupTokenOf } from '../credentials/setup-token.ts';

const ORIGIN = 'http://127.0.0.1:8080';
const CALLBACK = `${ORIGIN}/v1/sign-in/oidc/callback`;
const OLGA: Person = { sub: 'olga', email: 'olga@Example.com', email_verified: true, name: 'Olga' };
const MAX: Person = { sub: 'max', email: 'max@example.com', email_verified: true, name: 'Max' };

/** A service that signs users in at a provider, by passwords too unless `PASSWORD_SIGN_IN` is `off`. */
async function openEnvironment(env: Record<string, string> = { PASSWORD_SIGN_IN: 'on' }) {
  const provider = await openOpenIdProvider(CALLBACK);
  const settings = { OIDC_ISSUER: provider.issuer, OIDC_CLIENT_ID: CLIENT.id, OIDC_CLIENT_SECRET: CLIENT.secret };
  const fixture = await openAccountFixture({ env: { ...settings, ...env } });
  const begin = async (body: object = {}, headers: object = {}) => {
    const given = { origin: ORIGIN, host: '127.0.0.1:8080', ...headers };
    const answer = await fixture.app.inject({ method: 'POST', url: '/v1/sign-in/oidc', headers: given, payload: body });
    const cookie = (answer.headers['set-cookie'] as string | undefined)?.split(';')[0] ?? '';
    return {
      status: answer.statusCode,
      body: answer.json(),
      cookie,
      setCookie: answer.headers['set-cookie'] as string,
    };
  };
  const back = async (url: URL, cookie: string) => {
    const answer = await fixture.app.inject({ url: url.pathname + url.search, headers: { cookie } });
    const session = (answer.headers['set-cookie'] as string | undefined)?.split(';')[0];
    return { status: answer.statusCode, location: answer.headers['location'], cookie: session ?? '' };
  };
  return {
    ...fixture,
    fixture,
    provider,
    begin,
    back,
    /** The whole way of a browser. Returns where it ends, and its session. */
    async signIn(person: Person | null, body: object = {}) {
      const { body: begun, cookie } = await begin(body);
      return await back(await provider.visit(begun.url, person), cookie);
    },
    async [Symbol.asyncDispose]() {
      await fixture[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

/** The user of a cookie. */
async function userOf(fixture: Fixture, cookie: string) {
  return await me(fixture, { id: '', cookie } as Browser);
}

test('the ways to sign in name the provider, and passwords are off beside it unless they are switched on', async () => {
  await using only = await openEnvironment({});
  await using both = await openEnvironment({ PASSWORD_SIGN_IN: 'on', OIDC_NAME: 'Example ID' });
  const setup = { token: setupTokenOf(SECRETS_KEY), ...OWNER };

  const ways = await Promise.all(
    [only, both].map(async ({ fixture }) => (await send(fixture, null, 'GET', '/v1/sign-in')).body),
  );
  const refused = [
    await send(only.fixture, null, 'POST', '/v1/setup', setup),
    await send(only.fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD }),
    await send(only.fixture, null, 'POST', '/v1/invitations/accept', {
      token: 'x',
      email: OWNER.email,
      password: PASSWORD,
    }),
  ];

  assert.deepEqual(ways, [
    { setup: true, password: false, oidc: { name: new URL(only.provider.issuer).host } },
    { setup: true, password: true, oidc: { name: 'Example ID' } },
  ]);
  assert.deepEqual(
    refused.map(({ status }) => status),
    [409, 409, 409],
  );
});

test('the first visit makes the owner by the provider, an invitation the next user, and both come back', async () => {
  await using service = await openEnvironment({});
  const { fixture } = service;

  const wrong = await service.begin({ setup: 'not the token' });
  const owner = await service.signIn(OLGA, { setup: setupTokenOf(SECRETS_KEY) });
  const { body: session } = await send(fixture, { id: '', cookie: owner.cookie }, 'GET', '/v1/session');
  const token = await invite(fixture, { id: session.id, cookie: owner.cookie }, { role: 'member', email: MAX.email });
  const stranger = await service.signIn(MAX);
  const member = await service.signIn(MAX, { invitation: token });
  const again = await service.signIn({ ...MAX, email: 'renamed@example.com' });

  assert.equal(wrong.status, 401);
  const { role, operator, email, has_password: hasPassword } = await userOf(fixture, owner.cookie);
  assert.deepEqual([owner.status, owner.location], [302, '/']);
  assert.deepEqual([role, operator, email, hasPassword], ['owner', true, 'olga@example.com', false]);
  assert.deepEqual([stranger.location, stranger.cookie], ['/#sign-in=no_user', 'verbatim_sign_in=']);
  const [first, second] = [await userOf(fixture, member.cookie), await userOf(fixture, again.cookie)];
  assert.deepEqual([first.role, first.operator, first.email, first.name], ['member', false, 'max@example.com', 'Max']);
  assert.equal(second.id, first.id);
});

test('a user with a password is known by an email that the provider has verified, not by another', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const { id } = await me(fixture, await setUp(fixture));

  const unverified = await service.signIn({ ...OLGA, email_verified: false });
  const verified = await service.signIn(OLGA);
  const impostor = await service.signIn({ ...OLGA, sub: 'another olga' });

  assert.equal(unverified.location, '/#sign-in=no_user');
  assert.equal((await userOf(fixture, verified.cookie)).id, id);
  assert.equal(impostor.location, '/#sign-in=no_user');
});

test('a subject that no provider may send is a sign-in that failed', async () => {
  await using service = await openEnvironment({});
  const setup = setupTokenOf(SECRETS_KEY);

  const failed = [
    await service.signIn({ ...OLGA, sub: 'olga\0' }, { setup }),
    await service.signIn({ ...OLGA, sub: 'o'.repeat(256) }, { setup }),
  ];
  const owner = await service.signIn({ ...OLGA, sub: 'o'.repeat(255) }, { setup });

  assert.deepEqual(
    failed.map(({ status, location }) => [status, location]),
    Array.from({ length: 2 }, () => [302, '/#sign-in=failed']),
  );
  assert.equal(owner.location, '/');
});

test('an email that somebody has only typed leads the provider to nobody', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const squatter = await join(fixture, owner, 'viewer', 'max@example.com');
  const token = await invite(fixture, owner, { role: 'owner', email: MAX.email });

  const stranger = await service.signIn(MAX);
  const max = await service.signIn(MAX, { invitation: token });

  assert.equal(stranger.location, '/#sign-in=no_user');
  assert.notEqual((await userOf(fixture, max.cookie)).id, squatter.userId);
  assert.equal((await userOf(fixture, (await service.signIn(MAX)).cookie)).role, 'owner');
  assert.equal((await me(fixture, squatter)).role, 'viewer');
});

test('who has come with an email of somebody else, not verified, neither uses its invitations nor keeps it', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const impostor = { ...MAX, sub: 'impostor', email_verified: false };
  const own = await service.signIn(impostor, { invitation: await invite(fixture, owner, { role: 'viewer' }) });
  const token = await invite(fixture, owner, { role: 'owner', email: MAX.email });

  const refused = await service.signIn(impostor, { invitation: token });
  const max = await service.signIn(MAX, { invitation: token });
  const again = await service.signIn(impostor);

  assert.equal(refused.location, '/#sign-in=other_email');
  assert.equal((await userOf(fixture, max.cookie)).role, 'owner');
  const ids = [own.cookie, again.cookie].map(async (cookie) => (await userOf(fixture, cookie)).id);
  const [before, after] = await Promise.all(ids);
  assert.deepEqual([before, (await userOf(fixture, again.cookie)).role], [after, 'viewer']);
});

test('an invited user with a password is who comes by the provider with that email, verified', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const token = await invite(fixture, owner, { role: 'member', email: MAX.email });
  const accept = { token, email: MAX.email, password: PASSWORD, name: 'Max' };
  const before = await begin(fixture, '/v1/invitations/accept', accept);
  const { id } = await me(fixture, before);

  const max = await service.signIn(MAX);

  assert.equal((await userOf(fixture, max.cookie)).id, id);
  assert.equal((await send(fixture, before, 'GET', '/v1/me')).status, 401);
  const again = { email: MAX.email, password: PASSWORD };
  assert.equal((await send(fixture, null, 'POST', '/v1/sign-in', again)).status, 401);
});

test('an email that the provider gives to somebody else is theirs from then on', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const first = await service.signIn(MAX, { invitation: await invite(fixture, owner, { role: 'viewer' }) });
  const next = { ...MAX, sub: 'another max' };

  const second = await service.signIn(next, {
    invitation: await invite(fixture, owner, { role: 'member', email: MAX.email }),
  });

  assert.equal((await userOf(fixture, second.cookie)).role, 'member');
  assert.notEqual((await userOf(fixture, second.cookie)).id, (await userOf(fixture, first.cookie)).id);
});

test("an operator's invitation with a new password ends what the provider led to before", async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const { account_id: accountId } = await me(fixture, owner);
  const unverified = { ...MAX, email_verified: false };
  await service.signIn(unverified, { invitation: await invite(fixture, owner, { role: 'viewer' }) });
  const fields = { role: 'owner', email: MAX.email };
  const made = await fixture.ask('POST', `/admin/v1/accounts/${accountId}/invitations`, fields);
  const accept = { token: made.body.url.slice('/#invitation='.length), email: MAX.email, password: PASSWORD };

  const max = await begin(fixture, '/v1/invitations/accept', accept);

  assert.equal((await me(fixture, max)).role, 'owner');
  assert.equal((await service.signIn(unverified)).location, '/#sign-in=no_user');
});

test('a name and an email that nobody could give here are not taken over from the provider', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const named = { sub: 'n', email: 'n@example.com', name: `a\u0000${'n'.repeat(300)}` };
  const wrong = { sub: 'w', email: `${'w'.repeat(300)}@example.com`, name: 'W' };

  const member = await service.signIn(named, { invitation: await invite(fixture, owner, { role: 'member' }) });
  const refused = await service.signIn(wrong, { invitation: await invite(fixture, owner, { role: 'member' }) });

  assert.equal((await userOf(fixture, member.cookie)).name, `a ${'n'.repeat(198)}`);
  assert.equal(refused.location, '/#sign-in=no_email');
});

test('a first password needs a sign-in of the last 15 minutes; going to another account is none', async () => {
  await using service = await openEnvironment();
  const { fixture } = service;
  const owner = await setUp(fixture);
  const { account_id: accountId } = await me(fixture, owner);
  const { cookie } = await service.signIn(MAX, { invitation: await invite(fixture, owner, { role: 'member' }) });
  const { body: session } = await send(fixture, { id: '', cookie }, 'GET', '/v1/session');
  const choose = (browser: Browser) => send(fixture, browser, 'PATCH', '/v1/me', { password: PASSWORD });
  await fixture.db.run({
    text: "update sessions set expires_at = expires_at - interval '16 minutes' where id = $1",
    values: [session.id],
  });

  const old = await choose({ id: session.id, cookie });
  const switched = await begin(fixture, '/v1/me/account', { account_id: accountId }, { id: session.id, cookie });
  const still = await choose(switched);
  const fresh = await service.signIn(MAX);
  const { body: next } = await send(fixture, { id: '', cookie: fresh.cookie }, 'GET', '/v1/session');

  assert.deepEqual([old.status, still.status], [409, 409]);
  assert.equal((await choose({ id: next.id, cookie: fresh.cookie })).status, 200);
});

const REFUSED: [string, Person, object, string][] = [
  ['of another email', { ...OLGA, sub: 'x', email: 'x@example.com' }, { email: 'max@example.com' }, 'other_email'],
  ['of an email that is not verified', { ...MAX, email_verified: false }, { email: 'max@example.com' }, 'other_email'],
  ['by somebody without an email', { sub: 'x' }, {}, 'no_email'],
];

for (const [what, person, fields, code] of REFUSED) {
  test(`an invitation ${what} is refused, and stays open`, async () => {
    await using service = await openEnvironment();
    const owner = await setUp(service.fixture);
    const token = await invite(service.fixture, owner, { role: 'member', ...fields });

    const { location } = await service.signIn(person, { invitation: token });

    assert.equal(location, `/#sign-in=${code}`);
    assert.equal((await send(service.fixture, null, 'POST', '/v1/invitations/open', { token })).status, 200);
    assert.equal((await send(service.fixture, owner, 'GET', '/v1/users')).body.data.length, 1);
  });
}

test('who comes back with the state of another browser, an old one, or a changed one is not signed in', async () => {
  await using service = await openEnvironment();
  await setUp(service.fixture);
  const [own, other] = [await service.begin(), await service.begin()];
  const returned = await service.provider.visit(own.body.url, OLGA);
  const forged = new URL(returned);
  forged.searchParams.set('state', new URL(other.body.url).searchParams.get('state')!);
  const changed = own.cookie.replace(/=(.)/, (_all, first) => `=${first === 'a' ? 'b' : 'a'}`);

  const ends = [
    await service.back(returned, ''),
    await service.back(returned, changed),
    await service.back(returned, other.cookie),
    await service.back(forged, own.cookie),
    await service.back(forged, other.cookie),
    await service.back(returned, own.cookie),
    await service.back(returned, own.cookie),
  ];

  assert.deepEqual(
    ends.map(({ location }) => location),
    ['/#sign-in=expired', '/#sign-in=expired', ...Array(3).fill('/#sign-in=failed'), '/', '/#sign-in=failed'],
  );
});

test('a state that began by HTTPS comes back with the cookie of this host only', async () => {
  await using service = await openEnvironment();
  await setUp(service.fixture);
  const { cookie } = await service.begin({}, { origin: 'https://speech.example.com', host: 'speech.example.com' });
  const back = new URL(`${CALLBACK}?error=access_denied`);

  const [own, tossed] = [await service.back(back, cookie), await service.back(back, cookie.replace('__Host-', ''))];

  assert.deepEqual([own.location, tossed.location], ['/#sign-in=cancelled', '/#sign-in=expired']);
});

test('what any page makes a browser send to the way back does not keep its address from signing in', async () => {
  await using service = await openEnvironment();
  await setUp(service.fixture);
  const back = new URL(`${CALLBACK}?code=x`);

  for (let count = 0; count < 61; count++) assert.equal((await service.back(back, '')).status, 302);

  const answer = { email: OWNER.email, password: PASSWORD };
  assert.equal((await send(service.fixture, null, 'POST', '/v1/sign-in', answer)).status, 201);
  assert.equal((await service.signIn(OLGA)).location, '/');
});

test('after 60 ways back in a minute that the provider has not confirmed an address is refused', async () => {
  await using service = await openEnvironment();
  const { cookie } = await service.begin();
  const back = new URL(`${CALLBACK}?code=x&state=y`);

  const statuses = new Set<number>();
  for (let count = 0; count < 60; count++) statuses.add((await service.back(back, cookie)).status);

  assert.deepEqual([[...statuses], (await service.back(back, cookie)).status], [[302], 429]);
});

test('who refuses at the provider is told so', async () => {
  await using service = await openEnvironment();
  await setUp(service.fixture);

  assert.equal((await service.signIn(null)).location, '/#sign-in=cancelled');
});

test('the sign-in begins on a page of the service, with PKCE, and its cookie is Lax and of 10 minutes', async () => {
  await using service = await openEnvironment();

  const { body, setCookie } = await service.begin();
  const elsewhere = await service.begin({}, { origin: 'http://evil.example.com' });
  const https = await service.begin({}, { origin: 'https://speech.example.com', host: 'speech.example.com' });

  const { searchParams } = new URL(body.url);
  assert.equal(searchParams.get('redirect_uri'), CALLBACK);
  assert.equal(searchParams.get('code_challenge_method'), 'S256');
  assert.match(setCookie, /^verbatim_sign_in=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
  assert.match(https.setCookie, /^__Host-verbatim_sign_in=.*; HttpOnly; SameSite=Lax; Secure$/);
  assert.equal(
    new URL(https.body.url).searchParams.get('redirect_uri'),
    'https://speech.example.com/v1/sign-in/oidc/callback',
  );
  assert.equal(elsewhere.status, 401);
});

test('PUBLIC_URL is where the provider sends the browser back', async () => {
  await using service = await openEnvironment({ PUBLIC_URL: 'https://speech.example.com' });

  const { body } = await service.begin();

  assert.equal(
    new URL(body.url).searchParams.get('redirect_uri'),
    'https://speech.example.com/v1/sign-in/oidc/callback',
  );
});

test('a provider that is away is a 503, and is asked again', async () => {
  const env = { OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: CLIENT.id };
  await using fixture = await openAccountFixture({ env });
  await using none = await openAccountFixture();
  const begin = async ({ app }: Fixture) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/sign-in/oidc',
      headers: { origin: ORIGIN, host: '127.0.0.1:8080' },
      payload: {},
    });
    return [answer.statusCode, answer.json().error.type];
  };

  assert.deepEqual([await begin(fixture), await begin(fixture)], Array(2).fill([503, 'unavailable']));
  assert.deepEqual(await begin(none), [409, 'conflict']);
});
