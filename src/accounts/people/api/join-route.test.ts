import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../../test/fixtures/account.ts';
import { type Browser, begin, type Fixture, invite, join, me, send, setUp } from '../../../../test/fixtures/people.ts';

const JOIN = '/v1/me/invitations';

/** A member of one account, with the owner of another. */
async function openTwo() {
  const fixture = await openAccountFixture();
  const member = await join(fixture, await setUp(fixture, { account_name: 'Acme' }), 'member');
  const { id } = (await fixture.ask('POST', '/admin/v1/accounts', { name: 'Beta', plan: 'lite' })).body;
  const { body } = await fixture.ask('POST', `/admin/v1/accounts/${id}/invitations`, { role: 'owner' });
  const person = { email: 'berta@example.com', password: 'correct horse battery', name: 'Berta' };
  const token = body.url.slice('/#invitation='.length);
  const other = await begin(fixture, '/v1/invitations/accept', { token, ...person });
  return { fixture, member, other, otherId: id, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

const sessionEnd = async (fixture: Fixture, browser: Browser) =>
  (await send(fixture, browser, 'GET', '/v1/session')).body.expires_at as string;

test('whoever is signed in joins another account as the same user, in a session that ends no later', async () => {
  await using environment = await openTwo();
  const { fixture, member, other, otherId } = environment;
  await fixture.db.run({ text: "update sessions set expires_at = now() + interval '1 hour'" });
  const end = await sessionEnd(fixture, member);
  const token = await invite(fixture, other, { role: 'viewer' });

  const joined = await begin(fixture, JOIN, { token }, member);

  const { id, role, account_id, accounts } = await me(fixture, joined);
  assert.deepEqual([id, role, account_id, accounts.length], [member.userId, 'viewer', otherId, 2]);
  assert.equal(await sessionEnd(fixture, joined), end);
  assert.equal((await send(fixture, member, 'GET', '/v1/me')).status, 401);
  const again = await send(fixture, joined, 'POST', JOIN, { token });
  assert.deepEqual([again.status, again.body.error.type], [404, 'not_found']);
});

test('an invitation for an email is accepted by its user only, and stays open for that', async () => {
  await using environment = await openTwo();
  const { fixture, member, other } = environment;
  const theirs = await invite(fixture, other, { role: 'member', email: 'somebody@example.com' });
  const own = await invite(fixture, other, { role: 'member', email: 'Member@Example.com' });

  const refused = await send(fixture, member, 'POST', JOIN, { token: theirs });
  const joined = await begin(fixture, JOIN, { token: own }, member);

  assert.deepEqual([refused.status, refused.body.error.param], [400, 'token']);
  assert.equal((await me(fixture, joined)).role, 'member');
  assert.equal((await send(fixture, null, 'POST', '/v1/invitations/open', { token: theirs })).status, 200);
});

test('wrong tokens of a session are limited', async () => {
  await using environment = await openTwo();
  const { fixture, member } = environment;
  const statuses: number[] = [];
  for (let i = 0; i < 11; i++) {
    statuses.push((await send(fixture, member, 'POST', JOIN, { token: `${i}`.padStart(43, 'x') })).status);
  }

  assert.deepEqual([statuses[0], statuses.at(-1)], [404, 429]);
});
