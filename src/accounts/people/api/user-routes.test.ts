import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../../test/fixtures/account.ts';
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
import { runtimeOn } from '../../../../test/fixtures/runtime.ts';
import { until } from '../../../../test/fixtures/until.ts';
import { auditRoutes } from '../../../audit/routes.ts';
import { findNamesOfActors } from '../../keys/key-store.ts';
import { findUsableKeys } from '../../keys/usable-keys.ts';

const openEnvironment = () => openAccountFixture({ more: (db) => auditRoutes(runtimeOn(db), findNamesOfActors) });

/** An account with a user of each role. */
async function openTeam() {
  const fixture = await openEnvironment();
  const owner = await setUp(fixture, { account_name: 'Acme' });
  const ownerId = (await me(fixture, owner)).id as string;
  const member = await join(fixture, owner, 'member');
  const viewer = await join(fixture, owner, 'viewer');
  return { fixture, owner: { ...owner, userId: ownerId }, member, viewer };
}

/** Sends requests that wait for the locks of a statement, which is committed when all of them wait. */
async function whileLocked<Sent>(fixture: Fixture, statement: string, begin: () => Sent[]): Promise<Sent[]> {
  return await fixture.db.transaction(async (tx) => {
    await tx.rows({ text: statement });
    const sent = begin();
    await until('the requests wait', async () => {
      const waiting = await fixture.db.rows({
        text: "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      });
      return waiting.length === sent.length;
    });
    return sent;
  });
}

const statuses = async (
  fixture: Fixture,
  browsers: Browser[],
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload?: object,
) => {
  const found: number[] = [];
  for (const browser of browsers) found.push(await statusOf(fixture, browser, method, url, payload));
  return found;
};

test('all users see who is in the account', async () => {
  const { fixture, owner, member, viewer } = await openTeam();
  await using _ = fixture;

  const list = (await send(fixture, viewer, 'GET', '/v1/users?limit=2')).body;
  const rest = (await send(fixture, member, 'GET', `/v1/users?limit=2&cursor=${list.next_cursor}`)).body;

  assert.deepEqual(
    [...list.data, ...rest.data].map(({ id, role, email }) => [id, role, email]),
    [
      [viewer.userId, 'viewer', 'viewer@example.com'],
      [member.userId, 'member', 'member@example.com'],
      [owner.userId, 'owner', 'olga@example.com'],
    ],
  );
  assert.ok(list.data.every((user: { last_used_at: string | null }) => user.last_used_at !== null));
});

const BY_ROLE: [string, 'GET' | 'POST' | 'PATCH' | 'DELETE', string, object | undefined, number[]][] = [
  ['reads usage', 'GET', '/v1/balance', undefined, [200, 200, 200]],
  ['lists keys', 'GET', '/v1/keys', undefined, [200, 200, 403]],
  ['makes a key', 'POST', '/v1/keys', { scopes: ['jobs:read'] }, [201, 201, 403]],
  ['makes a key that manages keys', 'POST', '/v1/keys', { scopes: ['keys:write'] }, [201, 403, 403]],
  ['makes a key of all scopes', 'POST', '/v1/keys', {}, [201, 403, 403]],
  ['lists invitations', 'GET', '/v1/invitations', undefined, [200, 403, 403]],
  ['invites', 'POST', '/v1/invitations', { role: 'viewer' }, [201, 403, 403]],
  ['deletes an invitation', 'DELETE', '/v1/invitations/inv_00000000000000000000000000', undefined, [404, 403, 403]],
  ['changes a role', 'PATCH', '/v1/users/usr_00000000000000000000000000', { role: 'owner' }, [404, 403, 403]],
  ['removes a user', 'DELETE', '/v1/users/usr_00000000000000000000000000', undefined, [404, 403, 403]],
];

test('the role says what a user may do', async (t) => {
  const { fixture, owner, member, viewer } = await openTeam();
  await using _ = fixture;

  for (const [what, method, url, body, expected] of BY_ROLE) {
    await t.test(`${what}: ${expected}`, async () => {
      assert.deepEqual(await statuses(fixture, [owner, member, viewer], method, url, body), expected);
    });
  }
});

test('a key shows who made it; a member ends their own keys only, an owner all', async () => {
  const { fixture, owner, member } = await openTeam();
  await using _ = fixture;
  const make = async (browser: Browser) =>
    (await send(fixture, browser, 'POST', '/v1/keys', { scopes: ['jobs:read'] })).body;
  const [ownersKey, first, second] = [await make(owner), await make(member), await make(member)];
  const end = (browser: Browser, { id }: { id: string }) => send(fixture, browser, 'DELETE', `/v1/keys/${id}`);

  const listed = (await send(fixture, owner, 'GET', '/v1/keys')).body.data as { created_by: object }[];
  const answers = [
    await end(member, ownersKey),
    await end(member, first),
    await end(owner, second),
    await end(owner, ownersKey),
  ];

  assert.deepEqual(first.created_by, { id: member.userId, name: 'member' });
  assert.deepEqual(listed.at(-1)!.created_by, { id: owner.userId, name: 'Olga' });
  assert.equal(listed.length, 3);
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body?.error.type]),
    [[403, 'missing_role'], ...Array(3).fill([204, undefined])],
  );
});

test('an API key, and a session of it, are no user', async () => {
  await using fixture = await openEnvironment();
  const { key } = await fixture.account();
  const session = await fixture.app.inject({ method: 'POST', url: '/v1/session', headers: { 'x-api-key': key } });
  const browser = { id: session.json().id, cookie: (session.headers['set-cookie'] as string).split(';')[0]! };

  for (const url of ['/v1/me', '/v1/users', '/v1/invitations']) {
    const bySession = await send(fixture, browser, 'GET', url);
    assert.deepEqual([bySession.status, bySession.body.error.type], [403, 'missing_role'], url);
    assert.equal((await fixture.askAs(key, 'GET', url)).status, 401, url);
  }
});

test('a change of role takes effect with the next request', async () => {
  const { fixture, owner, member, viewer } = await openTeam();
  await using _ = fixture;

  await send(fixture, owner, 'PATCH', `/v1/users/${member.userId}`, { role: 'viewer' });
  await send(fixture, owner, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' });

  assert.deepEqual(await statuses(fixture, [member, viewer], 'GET', '/v1/invitations'), [403, 200]);
  assert.equal(await statusOf(fixture, member, 'POST', '/v1/keys', { scopes: ['jobs:read'] }), 403);
});

test('the last owner cannot go, and cannot become less', async () => {
  const { fixture, owner, viewer } = await openTeam();
  await using _ = fixture;
  const own = `/v1/users/${owner.userId}`;

  const changed = await send(fixture, owner, 'PATCH', own, { role: 'member' });
  const left = await send(fixture, owner, 'DELETE', own);
  await send(fixture, owner, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' });
  const later = await send(fixture, owner, 'DELETE', own);

  assert.deepEqual([changed.status, changed.body.error.type, left.status, later.status], [409, 'conflict', 409, 204]);
});

test('of two owners who remove each other at once one remains', async () => {
  const { fixture, owner, viewer } = await openTeam();
  await using _ = fixture;
  await send(fixture, owner, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' });
  const removals = await whileLocked(fixture, 'select 1 from users for update', () => [
    send(fixture, owner, 'DELETE', `/v1/users/${viewer.userId}`),
    send(fixture, viewer, 'DELETE', `/v1/users/${owner.userId}`),
  ]);

  const answers = await Promise.all(removals);

  assert.deepEqual(answers.map(({ status }) => status).sort(), [204, 403]);
});

test('whoever is no owner any more does not act as one by what a node has cached', async () => {
  const { fixture, owner, viewer } = await openTeam();
  await using _ = fixture;
  await send(fixture, owner, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' });
  const { id } = (await send(fixture, owner, 'POST', '/v1/invitations', { role: 'viewer' })).body;
  assert.equal(await statusOf(fixture, viewer, 'GET', '/v1/invitations'), 200);
  // By another node: this one learns of it within a second.
  await fixture.db.run({
    text: "update api_keys set role = 'viewer', scopes = '{jobs:read}' where user_id = $1",
    values: [viewer.userId],
  });

  const found = [
    await statusOf(fixture, viewer, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' }),
    await statusOf(fixture, viewer, 'POST', '/v1/invitations', { role: 'owner' }),
    await statusOf(fixture, viewer, 'DELETE', `/v1/invitations/${id}`),
    await statusOf(fixture, viewer, 'DELETE', `/v1/users/${owner.userId}`),
  ];

  assert.deepEqual(found, Array(4).fill(403));
});

for (const [what, method, body] of [
  ['is removed', 'DELETE', undefined],
  ['becomes less', 'PATCH', { role: 'member' }],
] as const) {
  test(`the invitations of an owner who ${what} end`, async () => {
    const { fixture, owner, viewer } = await openTeam();
    await using _ = fixture;
    await send(fixture, owner, 'PATCH', `/v1/users/${viewer.userId}`, { role: 'owner' });
    const [theirs, other] = [
      await invite(fixture, viewer, { role: 'owner' }),
      await invite(fixture, owner, { role: 'member' }),
    ];

    await send(fixture, owner, method, `/v1/users/${viewer.userId}`, body);

    const open = (token: string) => send(fixture, null, 'POST', '/v1/invitations/open', { token });
    assert.deepEqual([(await open(theirs)).status, (await open(other)).status], [404, 200]);
  });
}

test('a sign-in with a password that is replaced meanwhile begins no session', async () => {
  await using fixture = await openEnvironment();
  await setUp(fixture);
  const [answer] = await whileLocked(fixture, "update users set password_hash = 'another'", () => [
    send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD }),
  ]);

  assert.equal((await answer!).status, 401);
});

test('an invitation is not accepted, and a password not changed, by a password that is replaced meanwhile', async () => {
  const { fixture, owner, member, viewer } = await openTeam();
  await using _ = fixture;
  const token = await invite(fixture, owner, { role: 'owner' });
  const second = await invite(fixture, owner, { role: 'owner' });
  const sent = await whileLocked(fixture, "update users set password_hash = 'another'", () => [
    send(fixture, member, 'POST', '/v1/me/invitations', { token: second }),
    send(fixture, null, 'POST', '/v1/invitations/accept', { token, email: 'member@example.com', password: PASSWORD }),
    send(fixture, viewer, 'PATCH', '/v1/me', { password: 'a wholly new password', current_password: PASSWORD }),
  ]);

  const answers = await Promise.all(sent);

  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401],
  );
  assert.deepEqual(await fixture.db.rows({ text: 'select distinct password_hash as hash from users' }), [
    { hash: 'another' },
  ]);
});

test('whoever is removed, or leaves, is signed out, has no streams and is deleted with the last account', async () => {
  const { fixture, owner, member, viewer } = await openTeam();
  await using _ = fixture;
  const key = (await send(fixture, member, 'POST', '/v1/keys', { scopes: ['jobs:read'] })).body.key;
  const streams = await fixture.db.rows<{ shard: number; id: string; accountId: string; sessionId: string }>({
    text: `
      select k.shard, k.id, k.account_id as "accountId", s.id as "sessionId"
      from api_keys k join sessions s on s.key_id = k.id
      where k.user_id = $1`,
    values: [member.userId],
  });
  assert.deepEqual(await findUsableKeys(fixture.db, streams), streams);

  const removed = await send(fixture, owner, 'DELETE', `/v1/users/${member.userId}`);
  const left = await send(fixture, viewer, 'DELETE', `/v1/users/${viewer.userId}`);

  assert.deepEqual([removed.status, left.status], [204, 204]);
  assert.deepEqual(await statuses(fixture, [member, viewer], 'GET', '/v1/me'), [401, 401]);
  assert.deepEqual(await findUsableKeys(fixture.db, streams), []);
  assert.deepEqual(await fixture.db.rows({ text: 'select email from users' }), [{ email: 'olga@example.com' }]);
  assert.equal((await fixture.askAs(key, 'GET', '/v1/account')).status, 200);
  assert.equal((await send(fixture, owner, 'GET', '/v1/keys')).body.data[0].created_by, null);
});

test('a new password needs the one of now, and ends the other sessions', async () => {
  await using fixture = await openEnvironment();
  const here = await setUp(fixture);
  const there = await signIn(fixture, OWNER.email);
  const change = (fields: object) => send(fixture, here, 'PATCH', '/v1/me', fields);

  const without = await change({ password: 'a wholly new password' });
  const wrong = await change({ password: 'a wholly new password', current_password: 'not this' });
  const right = await change({ password: 'a wholly new password', current_password: PASSWORD, name: 'Olga P.' });

  assert.deepEqual([without.status, wrong.status, right.status, right.body.name], [400, 400, 200, 'Olga P.']);
  assert.equal(wrong.body.error.param, 'current_password');
  assert.deepEqual(await statuses(fixture, [here, there], 'GET', '/v1/me'), [200, 401]);
  await signIn(fixture, OWNER.email, 'a wholly new password');
  assert.equal((await send(fixture, null, 'POST', '/v1/sign-in', { ...OWNER, name: undefined })).status, 401);
});

test('the audit log has who did what', async () => {
  const { fixture, owner, member } = await openTeam();
  await using _ = fixture;
  const key = (await send(fixture, member, 'POST', '/v1/keys', { scopes: ['jobs:read'] })).body;
  await send(fixture, owner, 'PATCH', `/v1/users/${member.userId}`, { role: 'owner' });
  await send(fixture, owner, 'DELETE', `/v1/users/${member.userId}`);
  await send(fixture, owner, 'POST', '/admin/v1/accounts', { name: 'Beta', plan: 'lite' });

  const { data } = (await send(fixture, owner, 'GET', '/admin/v1/audit?limit=100')).body;

  const entries = data.map(
    ({ action, actor, target_id }: { action: string; actor: { type: string; user_id: string }; target_id: string }) =>
      `${actor.type} ${actor.user_id} ${action} ${target_id}`,
  );
  for (const expected of [
    `user ${member.userId} key.created ${key.id}`,
    `user ${member.userId} user.joined ${member.userId}`,
    `user ${owner.userId} user.changed ${member.userId}`,
    `user ${owner.userId} user.deleted ${member.userId}`,
  ]) {
    assert.ok(entries.includes(expected), expected);
  }
  const actions = (entry: string) => entry.split(' ')[2];
  assert.equal(entries.filter((entry: string) => actions(entry) === 'invitation.created').length, 2);
  assert.equal(entries.filter((entry: string) => entry.startsWith(`user ${owner.userId} account.created`)).length, 2);
});

test('with an account its users, invitations and sessions go, but for operators and users of other accounts', async () => {
  const { fixture, owner, member } = await openTeam();
  await using _ = fixture;
  const { account_id: accountId } = await me(fixture, owner);
  const other = (await fixture.ask('POST', '/admin/v1/accounts', { name: 'Beta', plan: 'lite' })).body;
  const { body } = await fixture.ask('POST', `/admin/v1/accounts/${other.id}/invitations`, { role: 'owner' });
  const token = body.url.slice('/#invitation='.length);
  await begin(fixture, '/v1/invitations/accept', { token, email: 'member@example.com', password: PASSWORD });
  await send(fixture, owner, 'POST', '/v1/invitations', { role: 'viewer' });

  const erased = await fixture.ask('DELETE', `/admin/v1/accounts/${accountId}`);

  assert.equal(erased.status, 202);
  const read = async (text: string) => (await fixture.db.rows<{ value: string }>({ text })).map(({ value }) => value);
  assert.deepEqual(await read('select email as value from users order by 1'), [
    'member@example.com',
    'olga@example.com',
  ]);
  assert.deepEqual(await read('select id as value from invitations'), []);
  assert.deepEqual(await read('select account_id as value from api_keys'), [other.id]);
  assert.equal(await statusOf(fixture, member, 'GET', '/v1/me'), 401);
  assert.equal(
    (await send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: PASSWORD })).status,
    401,
  );
  await signIn(fixture, 'member@example.com');
});
