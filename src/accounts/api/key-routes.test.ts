import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture, openAccountNode } from '../../../test/fixtures/account.ts';
import { hashKey } from '../../http/authentication.ts';
import { findEndedKey } from '../keys/ended-key.ts';
import { findValidKeys } from '../keys/key-store.ts';

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();
const IN_TWO_HOURS = new Date(Date.now() + 7_200_000).toISOString();

test('an account makes, lists and revokes its own keys', async () => {
  await using fixture = await openAccountFixture();
  const { key, keyId } = await fixture.account();

  const made = await fixture.askAs(key, 'POST', '/v1/keys', {
    name: 'ci',
    scopes: ['jobs:write'],
    expires_at: IN_AN_HOUR,
  });
  const list = await fixture.askAs(key, 'GET', '/v1/keys');
  const revoked = await fixture.askAs(key, 'DELETE', `/v1/keys/${made.body.id}`);
  const after = await fixture.askAs(made.body.key, 'GET', '/v1/keys');

  const { key: secret, id, created_at, ...shown } = made.body;
  assert.equal(made.status, 201);
  assert.match(secret, /^vb_[0-9A-Za-z]{49}$/);
  const prefix = secret.slice(0, 8);
  assert.deepEqual(shown, {
    name: 'ci',
    prefix,
    scopes: ['jobs:write'],
    expires_at: IN_AN_HOUR,
    last_used_at: null,
    created_by: null,
  });
  assert.deepEqual(list.body.data[0], { id, created_at, ...shown });
  assert.deepEqual(
    list.body.data.map((row: { id: string }) => row.id),
    [id, keyId],
  );
  assert.deepEqual([revoked.status, after.status], [204, 401]);
});

test('a key without scopes may do everything, absent or empty', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();

  const empty = await fixture.askAs(key, 'POST', '/v1/keys', { scopes: [], name: null, expires_at: null });
  const absent = await fixture.askAs(empty.body.key, 'POST', '/v1/keys', {});

  assert.deepEqual([empty.status, absent.status], [201, 201]);
  assert.deepEqual([empty.body.scopes, absent.body.scopes], [[], []]);
  assert.equal((await fixture.balance(absent.body.key)).statusCode, 200);
});

test('an action outside of the scopes is a 403 that names the scope, and takes nothing from the keys that have it', async () => {
  const windowMs = 60_000;
  await using fixture = await openAccountFixture({
    balance: { count: 1, windowMs },
    others: { count: 4, windowMs },
  });
  const { id, key } = await fixture.account(1, { scopes: ['jobs:read'] });
  const { body: full } = await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, {});

  const balance = await fixture.balance(key);
  const keys = await fixture.askAs(key, 'POST', '/v1/keys', {});

  assert.equal(balance.statusCode, 403);
  const { error, required_scope } = balance.json();
  assert.deepEqual([error.type, error.code, required_scope], ['missing_scope', 403, 'usage:read']);
  assert.match(error.message, /usage:read/);
  assert.equal(balance.headers['ratelimit-remaining'], '3');
  assert.deepEqual([keys.status, keys.body.required_scope], [403, 'keys:write']);
  assert.equal((await fixture.balance(full.key)).statusCode, 200);
  const more = await Promise.all(Array.from({ length: 4 }, () => fixture.balance(key)));
  assert.deepEqual(more.map(({ statusCode }) => statusCode).toSorted(), [403, 403, 429, 429]);
});

test('a key grants no scope that it lacks', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account(1, { scopes: ['keys:write', 'jobs:read'] });
  const make = (scopes?: string[]) => fixture.askAs(key, 'POST', '/v1/keys', scopes && { scopes });

  const more = await make(['jobs:read', 'jobs:write']);
  const all = await make();
  const fewer = await make(['jobs:read', 'jobs:read']);

  assert.deepEqual([more.status, more.body.error.type, more.body.error.param], [403, 'missing_scope', 'scopes']);
  assert.equal(more.body.required_scope, 'jobs:write');
  assert.equal(all.status, 403);
  assert.deepEqual([fewer.status, fewer.body.scopes], [201, ['jobs:read']]);
});

test('a key that expires makes no key that outlives it', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account(1, { expires_at: IN_AN_HOUR });
  const make = (fields: object) => fixture.askAs(key, 'POST', '/v1/keys', fields);

  const later = await make({ expires_at: IN_TWO_HOURS });
  const never = await make({ expires_at: null });
  const same = await make({ expires_at: IN_AN_HOUR });

  assert.deepEqual([later.status, later.body.error.param], [400, 'expires_at']);
  assert.deepEqual([never.status, never.body.expires_at], [201, IN_AN_HOUR]);
  assert.equal(same.status, 201);
});

test('an expired key is a 401, and no longer valid for open streams', async () => {
  await using fixture = await openAccountFixture();
  const { id, key, keyId } = await fixture.account(1, { expires_at: IN_AN_HOUR });
  const [account] = await fixture.db.rows<{ shard: number }>({
    text: 'select shard from accounts where id = $1',
    values: [id],
  });
  const asked = [{ shard: account!.shard, id: keyId }];

  const before = await fixture.balance(key);
  const validNow = await findValidKeys(fixture.db, asked);
  const validThen = await findValidKeys(fixture.db, asked, { now: new Date(IN_AN_HOUR) });
  await fixture.db.run({ text: `update api_keys set expires_at = clock_timestamp()` });
  await using other = openAccountNode(fixture.db);
  const after = await fixture.balance(key, other);

  assert.deepEqual([before.statusCode, after.statusCode], [200, 401]);
  assert.equal(after.json().error.type, 'unauthenticated');
  assert.deepEqual([[...validNow], [...validThen]], [[keyId], []]);
});

test('a revoked key is not valid', async () => {
  await using fixture = await openAccountFixture();
  const { keyId } = await fixture.account();
  const [row] = await fixture.db.rows<{ shard: number }>({ text: 'select shard from api_keys' });
  await fixture.ask('DELETE', `/admin/v1/keys/${keyId}`);

  assert.equal((await findValidKeys(fixture.db, [{ shard: row!.shard, id: keyId }])).size, 0);
});

test('a key that has ended is told apart from an unknown one', async () => {
  await using fixture = await openAccountFixture();
  const { id, key, keyId } = await fixture.account();
  const link = (await fixture.ask('POST', `/admin/v1/accounts/${id}/portal-links`, { scopes: ['keys:write'] })).body;
  const made = (await fixture.askAs(link.url.split('=')[1], 'POST', '/v1/keys', { scopes: ['keys:write'] })).body;
  const old = (await fixture.askAs(key, 'POST', '/v1/keys', { expires_at: IN_AN_HOUR })).body;
  await fixture.db.run({ text: 'update api_keys set expires_at = clock_timestamp() where id = $1', values: [old.id] });
  const kindOf = async (text: string) => {
    const ended = await findEndedKey(fixture.db, hashKey(text));
    return ended && [ended.kind, ended.keyId, ended.accountId === id];
  };

  const before = [await kindOf(key), await kindOf(old.key)];
  await fixture.ask('DELETE', `/admin/v1/keys/${link.key_id}`);
  await fixture.askAs(key, 'DELETE', `/v1/keys/${keyId}`);
  const after = [await kindOf(key), await kindOf(made.key), await kindOf(`vb_${'a'.repeat(43)}`)];

  assert.deepEqual(before, [null, ['expired', old.id, true]]);
  assert.deepEqual(after, [['revoked', keyId, true], ['revoked', made.id, true], null]);
});

test('a key may delete itself whatever its scopes, and no other without keys:write', async () => {
  await using fixture = await openAccountFixture();
  const { id, key, keyId } = await fixture.account(1, { scopes: ['jobs:read'] });
  const other = await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, {});

  const refused = await fixture.askAs(key, 'DELETE', `/v1/keys/${other.body.id}`);
  const itself = await fixture.askAs(key, 'DELETE', `/v1/keys/${keyId}`);
  const after = await fixture.askAs(key, 'GET', '/v1/balance');

  assert.deepEqual([refused.status, refused.body.error.type], [403, 'missing_scope']);
  assert.deepEqual([itself.status, after.status], [204, 401]);
});

test('a key does not delete one with more scopes', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(1, { scopes: ['keys:write', 'jobs:read'] });
  const make = async (scopes: string[]) =>
    (await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, { scopes })).body.id as string;
  const remove = async (keyId: string) => await fixture.askAs(key, 'DELETE', `/v1/keys/${keyId}`);

  const all = await remove(await make([]));
  const more = await remove(await make(['jobs:read', 'jobs:write']));
  const same = await remove(await make(['jobs:read', 'keys:write']));

  assert.deepEqual([all.status, all.body.required_scope], [403, 'jobs:write']);
  assert.deepEqual([more.status, more.body.error.type, same.status], [403, 'missing_scope', 204]);
});

test('keys that were made by way of a link to the console end with it, and those that another key made do not', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account();
  const { body: link } = await fixture.ask('POST', `/admin/v1/accounts/${id}/portal-links`, { scopes: ['keys:write'] });
  const make = async (maker: string) =>
    (await fixture.askAs(maker, 'POST', '/v1/keys', { scopes: ['keys:write'] })).body as { id: string; key: string };
  const child = await make(link.url.split('=')[1]);
  const grandchild = await make(child.key);
  const rotated = await make(key);
  const first = await fixture.askAs(key, 'DELETE', `/v1/keys/${child.id}`);
  const still = await fixture.askAs(grandchild.key, 'GET', '/v1/keys');

  const revoked = await fixture.ask('DELETE', `/admin/v1/keys/${link.key_id}`);
  await fixture.ask('DELETE', `/admin/v1/keys/${(await fixture.askAs(key, 'GET', '/v1/keys')).body.data.at(-1).id}`);

  assert.deepEqual([first.status, still.status, revoked.status], [204, 200, 204]);
  assert.equal((await fixture.askAs(grandchild.key, 'GET', '/v1/keys')).status, 401);
  assert.equal((await fixture.askAs(rotated.key, 'GET', '/v1/keys')).status, 200);
});

test("another account's key is not there", async () => {
  await using fixture = await openAccountFixture();
  const [one, two] = [await fixture.account(), await fixture.account()];

  const answer = await fixture.askAs(one.key, 'DELETE', `/v1/keys/${two.keyId}`);

  assert.equal(answer.status, 404);
  assert.equal((await fixture.balance(two.key)).statusCode, 200);
});

test('the last use of a key is shown, and written at most twice a minute', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const version = async () =>
    (await fixture.db.rows<{ version: string }>({ text: 'select xmin::text as version from api_keys' }))[0]!.version;

  await Promise.all(Array.from({ length: 20 }, () => fixture.balance(key)));
  const first = await version();
  const shown = (await fixture.askAs(key, 'GET', '/v1/keys')).body.data[0].last_used_at;
  await fixture.balance(key);
  const second = await version();
  await fixture.db.run({ text: `update api_keys set last_used_at = clock_timestamp() - interval '31 seconds'` });
  const aged = await version();
  await using other = openAccountNode(fixture.db);
  await fixture.balance(key, other);
  const third = await version();

  assert.ok(Math.abs(Date.now() - Date.parse(shown)) < 60_000, shown);
  assert.equal(first, second);
  assert.notEqual(aged, third);
});

test('a key of an earlier release goes on working', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account();
  const old = `vb_${'aZ0-_9x'.repeat(6)}k`;
  await fixture.db.run({ text: 'update api_keys set hash = $1', values: [hashKey(old)] });

  assert.deepEqual([(await fixture.balance(old)).statusCode, (await fixture.balance(key)).statusCode], [200, 401]);
});

const WRONG: { what: string; fields: object; param: string }[] = [
  { what: 'an unknown scope', fields: { scopes: ['jobs:all'] }, param: 'scopes' },
  { what: 'a scope that is no list', fields: { scopes: 'jobs:read' }, param: 'scopes' },
  { what: 'an expiry without a zone', fields: { expires_at: '2099-01-01T00:00:00' }, param: 'expires_at' },
  { what: 'an expiry that has passed', fields: { expires_at: '2020-01-01T00:00:00Z' }, param: 'expires_at' },
  { what: 'an expiry that is a number', fields: { expires_at: 4_102_444_800 }, param: 'expires_at' },
  { what: 'an empty name', fields: { name: '' }, param: 'name' },
  { what: 'an unknown field', fields: { scope: [] }, param: 'scope' },
];
for (const { what, fields, param } of WRONG) {
  test(`${what} is a 400 for operators and keys`, async () => {
    await using fixture = await openAccountFixture();
    const { id, key } = await fixture.account();

    const own = await fixture.askAs(key, 'POST', '/v1/keys', fields);
    const admin = await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, fields);

    assert.deepEqual([own.status, own.body.error.param], [400, param]);
    assert.deepEqual([admin.status, admin.body.error.param], [400, param]);
  });
}

test('an account has at most 200 keys', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account();
  await fixture.db.run({
    text: `
      insert into api_keys (shard, id, account_id, prefix, hash, created_at)
      select shard, 'key_' || number, id, '', number::text::bytea, now()
      from accounts, generate_series(1, 198) as number
      where id = $1`,
    values: [id],
  });

  const answers = await Promise.all([1, 2].map(() => fixture.askAs(key, 'POST', '/v1/keys', {})));

  assert.deepEqual(answers.map(({ status }) => status).sort(), [201, 409]);
});
