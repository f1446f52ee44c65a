import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../../../test/fixtures/account.ts';
import {
  type Browser,
  begin,
  type Fixture,
  invite,
  me,
  OWNER,
  PASSWORD,
  send,
  setUp,
  signIn,
} from '../../../../test/fixtures/people.ts';

const CEO = 'ceo@bigcorp.example';
const SQUATTED = 'the password of the squatter';
const ACCEPT = '/v1/invitations/accept';

/** Two accounts of strangers: a squatter's, whose owner has claimed an email, and another's. */
async function openEnvironment({ isBound = false } = {}) {
  const fixture = await openAccountFixture();
  await setUp(fixture);
  const [bad, good] = [await accountWithOwner(fixture, 'bad'), await accountWithOwner(fixture, 'good')];
  const token = await invite(fixture, bad.owner, { role: 'member', ...(isBound && { email: CEO }) });
  const claim = { token, email: CEO, password: SQUATTED, name: 'Squatter' };
  const squatter = await begin(fixture, ACCEPT, claim);
  return { fixture, bad, good, squatter, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
}

async function accountWithOwner(fixture: Fixture, name: string): Promise<{ id: string; owner: Browser }> {
  const { id } = (await fixture.ask('POST', '/admin/v1/accounts', { name, plan: 'lite' })).body;
  const { body } = await fixture.ask('POST', `/admin/v1/accounts/${id}/invitations`, { role: 'owner' });
  const token = body.url.slice('/#invitation='.length);
  const person = { token, email: `${name}@example.com`, password: PASSWORD, name };
  return { id, owner: await begin(fixture, ACCEPT, person) };
}

for (const isBound of [false, true]) {
  const how = isBound ? "by an invitation of the squatter's account for it" : 'by typing it';

  test(`an email that somebody has claimed ${how} is no obstacle to its owner`, async () => {
    await using environment = await openEnvironment({ isBound });
    const { fixture, good, squatter } = environment;
    const token = await invite(fixture, good.owner, { role: 'owner', email: CEO });

    const ceo = await begin(fixture, ACCEPT, { token, email: CEO, password: PASSWORD, name: 'CEO' });

    const [mine, theirs] = [await me(fixture, ceo), await me(fixture, squatter)];
    assert.deepEqual([mine.name, mine.account_id], ['CEO', good.id]);
    assert.notEqual(mine.id, theirs.id);
    assert.equal((await me(fixture, await signIn(fixture, CEO))).account_id, good.id);
    const again = await me(fixture, await signIn(fixture, CEO, SQUATTED));
    assert.deepEqual([again.id, again.accounts.length], [theirs.id, 1]);
  });

  test(`an operator's invitation for an email that somebody has claimed ${how} makes a user of its own`, async () => {
    await using environment = await openEnvironment({ isBound });
    const { fixture, good, squatter } = environment;
    const fields = { role: 'owner', email: CEO };
    const { body } = await fixture.ask('POST', `/admin/v1/accounts/${good.id}/invitations`, fields);
    const token = body.url.slice('/#invitation='.length);

    const ceo = await begin(fixture, ACCEPT, { token, email: CEO, password: PASSWORD, name: 'CEO' });

    assert.deepEqual((await me(fixture, ceo)).accounts.length, 1);
    assert.equal((await me(fixture, squatter)).accounts.length, 1);
  });
}

test('of several users with one email each signs in by the password', async () => {
  await using environment = await openEnvironment();
  const { fixture, bad } = environment;
  const passwords = ['the first password', 'the second password', 'the third password'];
  const ids: string[] = [];
  for (const password of passwords) {
    const token = await invite(fixture, bad.owner, { role: 'viewer' });
    ids.push((await me(fixture, await begin(fixture, ACCEPT, { token, email: CEO, password, name: password }))).id);
  }

  const found: string[] = [];
  for (const password of passwords) found.push((await me(fixture, await signIn(fixture, CEO, password))).id);

  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(found, ids);
  const [{ salts }] = (await fixture.db.rows<{ salts: number }>({
    text: `select count(distinct split_part(password_hash, '$', 5)) as salts from users where email = $1`,
    values: [CEO],
  })) as [{ salts: number }];
  assert.equal(salts, 1);
});

test('of several who claim an email at the same time none has a password that is not found', async () => {
  await using environment = await openEnvironment();
  const { fixture, bad } = environment;
  const passwords = ['the first password', 'the second password', 'the third password'];
  const accept = async (password: string) => {
    const token = await invite(fixture, bad.owner, { role: 'viewer' });
    return await send(fixture, null, 'POST', ACCEPT, { token, email: 'new@example.com', password, name: password });
  };

  const answers = await Promise.all(passwords.map(accept));

  for (const [i, { status }] of answers.entries()) {
    assert.ok([201, 409].includes(status), String(status));
    if (status === 201) await signIn(fixture, 'new@example.com', passwords[i]);
  }
  assert.ok(answers.some(({ status }) => status === 201));
});

test('an open invitation does not tell whether an email has a user', async () => {
  await using environment = await openEnvironment();
  const { fixture, bad } = environment;
  const token = await invite(fixture, bad.owner, { role: 'viewer' });
  const tryOut = async (email: string, fields: object) => {
    const { status, body } = await send(fixture, null, 'POST', ACCEPT, { token, email, ...fields });
    return [status, body.error];
  };

  for (const fields of [{ password: 'short' }, { password: 'short', name: 'x' }, { password: 'not the password' }]) {
    assert.deepEqual(await tryOut(OWNER.email, fields), await tryOut('nobody@example.com', fields));
  }
});

const UNREADABLE: [what: string, email: string][] = [
  ['with a zero width space', 'anna\u200b@example.com'],
  ['with a control of direction', '\u202eanna@example.com'],
  ['of two alphabets', '\u0430nna@example.com'],
];

for (const [what, email] of UNREADABLE) {
  test(`an email ${what} is refused where a user or an invitation is made`, async () => {
    await using environment = await openEnvironment();
    const { fixture, bad } = environment;
    const token = await invite(fixture, bad.owner, { role: 'viewer' });

    const answers = [
      await send(fixture, bad.owner, 'POST', '/v1/invitations', { role: 'viewer', email }),
      await send(fixture, null, 'POST', ACCEPT, { token, email, password: PASSWORD, name: 'Anna' }),
    ];

    for (const { status, body } of answers) assert.deepEqual([status, body.error.param], [400, 'email']);
  });
}

test('a user whose email an earlier release stored in another form goes on signing in', async () => {
  await using environment = await openEnvironment();
  const { fixture, squatter } = environment;
  await fixture.db.run({
    text: `update users set email = $1, email_proof = 'account' where email = $2`,
    values: ['\uff43eo@bigcorp.example', CEO],
  });

  const found = await signIn(fixture, '\uff23eo@bigcorp.example', SQUATTED);

  assert.equal((await me(fixture, found)).id, (await me(fixture, squatter)).id);
});
