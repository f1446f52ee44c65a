import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../../test/fixtures/account.ts';
import { begin, type Fixture, me, PASSWORD, send, setUp, statusOf } from '../../../../test/fixtures/people.ts';
import { until } from '../../../../test/fixtures/until.ts';

/** Two operators of one account: the founder, who owns it, and one who is a viewer in it. */
async function openOperators(fixture: Fixture) {
  const founder = await setUp(fixture);
  const { account_id: accountId, id: founderId } = await me(fixture, founder);
  const fields = { role: 'viewer', operator: true };
  const { body } = await send(fixture, founder, 'POST', `/admin/v1/accounts/${accountId}/invitations`, fields);
  const accept = { token: body.url.slice('/#invitation='.length), email: 'second@example.com', name: 'Second' };
  const second = await begin(fixture, '/v1/invitations/accept', { ...accept, password: PASSWORD });
  return { accountId, founder, founderId, second, secondId: (await me(fixture, second)).id as string };
}

test('operators are listed, and one who is an operator no more permits nothing', async () => {
  await using fixture = await openAccountFixture();
  const { accountId, founder, founderId, second, secondId } = await openOperators(fixture);
  const made = await send(fixture, second, 'POST', `/admin/v1/accounts/${accountId}/invitations`, { role: 'owner' });

  const { data } = (await send(fixture, second, 'GET', '/admin/v1/operators')).body;
  const ended = await send(fixture, founder, 'DELETE', `/admin/v1/operators/${secondId}`);

  assert.deepEqual(data, [
    { id: secondId, name: 'Second', email: 'second@example.com' },
    { id: founderId, name: 'Olga', email: 'olga@example.com' },
  ]);
  assert.equal(ended.status, 204);
  assert.deepEqual(
    [await statusOf(fixture, second, 'GET', '/admin/v1/operators'), await statusOf(fixture, second, 'GET', '/v1/me')],
    [401, 200],
  );
  const token = made.body.url.slice('/#invitation='.length);
  assert.equal((await send(fixture, null, 'POST', '/v1/invitations/open', { token })).status, 404);
});

test('the last operator remains one, and of two who end each other at once one remains', async () => {
  await using fixture = await openAccountFixture();
  const { founder, founderId, second, secondId } = await openOperators(fixture);

  const both = await Promise.all([
    statusOf(fixture, founder, 'DELETE', `/admin/v1/operators/${secondId}`),
    statusOf(fixture, second, 'DELETE', `/admin/v1/operators/${founderId}`),
  ]);
  const { data } = (await fixture.ask('GET', '/admin/v1/operators')).body;
  const last = await fixture.ask('DELETE', `/admin/v1/operators/${data[0].id}`);

  assert.deepEqual(both.toSorted(), [204, 401]);
  assert.deepEqual([data.length, last.status], [1, 409]);
});

test('an operator who is ended at the same time invites nobody any more', async () => {
  await using fixture = await openAccountFixture();
  const { accountId, second, secondId } = await openOperators(fixture);

  const { inviting } = await fixture.db.transaction(async (tx) => {
    await tx.run({ text: 'update users set is_operator = false where id = $1', values: [secondId] });
    const fields = { role: 'owner', operator: true };
    const inviting = send(fixture, second, 'POST', `/admin/v1/accounts/${accountId}/invitations`, fields);
    let isAnswered = false;
    void inviting.then(() => (isAnswered = true));
    await until('the invitation waits', async () => {
      const text = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
      return isAnswered || (await fixture.db.rows({ text })).length > 0;
    });
    return { inviting };
  });

  assert.equal((await inviting).status, 401);
});

test('an operator of no account is deleted with that', async () => {
  await using fixture = await openAccountFixture();
  const { founder, secondId } = await openOperators(fixture);
  await send(fixture, founder, 'DELETE', `/v1/users/${secondId}`);
  const emails = async () =>
    (await fixture.db.rows<{ email: string }>({ text: 'select email from users order by 1' })).map(
      ({ email }) => email,
    );
  assert.deepEqual(await emails(), ['olga@example.com', 'second@example.com']);

  await fixture.ask('DELETE', `/admin/v1/operators/${secondId}`);

  assert.deepEqual(await emails(), ['olga@example.com']);
});
