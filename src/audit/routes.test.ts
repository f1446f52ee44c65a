import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../test/fixtures/account.ts';
import { join, me, PASSWORD, send, setUp } from '../../test/fixtures/people.ts';
import { runtimeOn } from '../../test/fixtures/runtime.ts';
import { secretBox } from '../../test/fixtures/webhooks/delivery.ts';
import { findNamesOfActors } from '../accounts/keys/key-store.ts';
import type { Database } from '../db/database.ts';
import { webhookRoutes } from '../webhooks/endpoints/routes.ts';
import { auditRoutes } from './routes.ts';
import { deleteOldChanges } from './store.ts';

const WEBHOOK = { url: 'https://hooks.example.com/a?token=hush', events: ['transcription.completed'] };
const MS_PER_DAY = 86_400_000;

const openEnvironment = () =>
  openAccountFixture({
    more(db: Database) {
      const runtime = runtimeOn(db, { secretBox, lookup: async () => ['93.184.216.34'] });
      return [...auditRoutes(runtime, findNamesOfActors), ...webhookRoutes(runtime)];
    },
  });
type Fixture = Awaited<ReturnType<typeof openEnvironment>>;
type Entry = {
  id: string;
  action: string;
  actor: { type: string; key_id: string | null; name: string | null };
  account_id: string;
  target_id: string;
  target_name: string | null;
  details: object;
};

const auditOf = async (fixture: Fixture, query = ''): Promise<Entry[]> =>
  (await fixture.ask('GET', `/admin/v1/audit?limit=100${query}`)).body.data;

/** Of entries of one millisecond any may be first. */
const summary = (entries: Entry[]) =>
  entries.map(({ action, actor, details }) => `${actor.type} ${action} ${JSON.stringify(details)}`).sort();

test('what an operator changes is listed: who, when, what and from which address', async () => {
  await using fixture = await openEnvironment();
  const { id, keyId } = await fixture.account(10, { scopes: ['jobs:read'] });
  await fixture.ask('PATCH', `/admin/v1/accounts/${id}`, { plan: 'lite', name: 'a new name' });
  const credit = await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -2.5, note: 'hush' });
  await fixture.ask('DELETE', `/admin/v1/keys/${keyId}`);

  const entries = await auditOf(fixture);

  assert.deepEqual(summary(entries), [
    'operator account.changed {"plan":"lite","fields":["plan","name"]}',
    'operator account.created {"plan":"pro","credits":10}',
    'operator credits.added {"amount":-2.5}',
    'operator key.created {"scopes":["jobs:read"],"expires_at":null}',
    'operator key.deleted {}',
  ]);
  const added = entries.find(({ action }) => action === 'credits.added')!;
  const { id: entryId, created_at, request_id, ...rest } = added as Entry & { created_at: string; request_id: string };
  assert.match(entryId, /^aud_/);
  assert.ok(Math.abs(Date.now() - Date.parse(created_at)) < 60_000);
  assert.equal(request_id, credit.headers['x-request-id']);
  assert.deepEqual(rest, {
    action: 'credits.added',
    actor: { type: 'operator', key_id: null, user_id: null, name: null },
    account_id: id,
    target_id: credit.body.id,
    target_name: null,
    details: { amount: -2.5 },
    address: '127.0.0.1',
  });
});

test('what a key changes is listed under that key, without secrets, URLs and bodies', async () => {
  await using fixture = await openEnvironment();
  const { id, key, keyId } = await fixture.account();
  const webhook = (await fixture.askAs(key, 'POST', '/v1/webhooks', { ...WEBHOOK, description: 'hush' })).body;
  const path = `/v1/webhooks/${webhook.id}`;
  await fixture.askAs(key, 'PATCH', path, { url: 'https://hooks.example.com/hush', active: false });
  await fixture.askAs(key, 'POST', `${path}/rotate-secret`, { overlap_seconds: 60 });
  await fixture.askAs(key, 'DELETE', path);
  const made = (await fixture.askAs(key, 'POST', '/v1/keys', { name: 'hush', scopes: ['jobs:read'] })).body;
  await fixture.askAs(key, 'DELETE', `/v1/keys/${made.id}`);

  const entries = (await auditOf(fixture, `&account_id=${id}`)).filter(({ actor }) => actor.key_id === keyId);

  assert.deepEqual(summary(entries), [
    'key key.created {"scopes":["jobs:read"],"expires_at":null}',
    'key key.deleted {}',
    'key webhook.changed {"active":false,"fields":["url","active"]}',
    'key webhook.created {"events":["transcription.completed"]}',
    'key webhook.deleted {}',
    'key webhook.secret_rotated {"overlap_seconds":60}',
  ]);
  assert.deepEqual([...new Set(entries.map(({ target_id }) => target_id))].sort(), [made.id, webhook.id].sort());
  assert.doesNotMatch(JSON.stringify(await fixture.db.rows({ text: 'select * from audit_log' })), /hush|whsec_|vb_/);
});

test('users and keys have their names in the list, while they have one', async () => {
  await using fixture = await openEnvironment();
  const owner = await setUp(fixture);
  const { account_id: id, name: ownerName } = await me(fixture, owner);
  const other = await join(fixture, owner, 'member');
  const { body: key } = await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, { name: 'call recorder' });
  const { body: made } = await fixture.askAs(key.key, 'POST', '/v1/keys', {});
  await send(fixture, owner, 'PATCH', `/v1/users/${other.userId}`, { role: 'viewer' });

  const named = (await auditOf(fixture)).map(({ action, actor, target_id, target_name }) => ({
    [action]: [actor.name, target_id === made.id ? 'made' : target_name],
  }));
  const has = (entry: object) => named.some((each) => JSON.stringify(each) === JSON.stringify(entry));

  assert.ok(has({ 'key.created': [null, 'call recorder'] }), JSON.stringify(named));
  assert.ok(has({ 'key.created': ['call recorder', 'made'] }), JSON.stringify(named));
  assert.ok(
    named.some((each) => each['user.changed']?.[0] === ownerName),
    JSON.stringify(named),
  );
});

test('what was refused or not found is not listed', async () => {
  await using fixture = await openEnvironment();
  const { id, key } = await fixture.account();
  const before = await auditOf(fixture);

  await fixture.askAs(key, 'POST', '/v1/webhooks', { ...WEBHOOK, url: 'http://hooks.example.com' });
  await fixture.askAs(key, 'DELETE', '/v1/webhooks/wh_00000000000000000000000000');
  await fixture.ask('PATCH', `/admin/v1/accounts/${id}`, {});
  await fixture.ask('DELETE', '/admin/v1/keys/key_00000000000000000000000000');

  assert.deepEqual(await auditOf(fixture), before);
});

test('the list goes on by its cursor, and filters by account and action', async () => {
  await using fixture = await openEnvironment();
  const [one, two] = [await fixture.account(), await fixture.account()];
  const whole = (await auditOf(fixture)).map(({ id }) => id);

  const pages: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const answer = await fixture.ask('GET', `/admin/v1/audit?limit=3${cursor && `&cursor=${cursor}`}`);
    const page = answer.body as { data: Entry[]; next_cursor: string | null };
    pages.push(...page.data.map(({ id }) => id));
    cursor = page.next_cursor;
  }
  const filtered = await auditOf(fixture, `&account_id=${two.id}&action=key.created`);

  assert.equal(whole.length, 4);
  assert.deepEqual(pages, whole);
  assert.deepEqual(
    filtered.map(({ target_id }) => target_id),
    [two.keyId],
  );
  assert.equal((await fixture.askAs(one.key, 'GET', '/admin/v1/audit')).status, 401);
});

test('after 5,000 changes in 24 hours a key is a 429 and changes nothing, but may still delete', async () => {
  await using fixture = await openEnvironment();
  const { id, key, keyId } = await fixture.account();
  await fixture.db.run({
    text: `
      insert into audit_log (id, account_id, key_id, action, target_id, details, address, request_id, created_at)
      select 'aud_' || lpad(number::text, 26, '0'), $1, 'key_1', 'webhook.changed', 'wh_1', '{}', '', '',
        clock_timestamp() - interval '23 hours'
      from generate_series(1, 4999) as number`,
    values: [id],
  });

  const last = await fixture.askAs(key, 'POST', '/v1/keys', {});
  const refused = await fixture.askAs(key, 'POST', '/v1/keys', {});
  const keys = await fixture.askAs(key, 'GET', '/v1/keys');
  const operator = await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, {});
  const deleted = await fixture.askAs(key, 'DELETE', `/v1/keys/${keyId}`);

  assert.deepEqual([last.status, refused.status, refused.body.error.type], [201, 429, 'rate_limited']);
  assert.ok(refused.body.retry_after > 3_500 && refused.body.retry_after <= 3_600, refused.body.retry_after);
  assert.equal(keys.body.data.length, 2);
  assert.deepEqual([operator.status, deleted.status], [201, 204]);
});

/** Entries of changes that were made an hour ago. */
async function fill(fixture: Fixture, accountId: string, { keyId, count }: { keyId: string; count: number }) {
  await fixture.db.run({
    text: `
      insert into audit_log (id, account_id, key_id, action, target_id, details, address, request_id, created_at)
      select 'aud_' || $2 || number, $1, $2, 'webhook.changed', 'wh_1', '{}', '', '',
        clock_timestamp() - interval '1 hour'
      from generate_series(1, $3::int) as number`,
    values: [accountId, keyId, count],
  });
}

test('a key with a scope makes 2,000 changes in 24 hours, and other keys go on', async () => {
  await using fixture = await openEnvironment();
  const { id, key, keyId } = await fixture.account();
  await fill(fixture, id, { keyId, count: 2_000 });
  const other = (await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, {})).body;

  const refused = await fixture.askAs(key, 'POST', '/v1/webhooks', WEBHOOK);
  const passed = await fixture.askAs(other.key, 'POST', '/v1/webhooks', WEBHOOK);

  assert.deepEqual([refused.status, passed.status], [429, 201]);
  assert.match(refused.body.error.message, /^This key or user made 2000 changes/);
});

test('what defends an account is not refused when keys have used up its changes', async () => {
  await using fixture = await openEnvironment();
  const owner = await setUp(fixture);
  const { account_id: id } = await me(fixture, owner);
  const member = await join(fixture, owner, 'member');
  const { key } = (await fixture.ask('POST', `/admin/v1/accounts/${id}/keys`, {})).body;
  const webhook = (await fixture.askAs(key, 'POST', '/v1/webhooks', WEBHOOK)).body;
  const operators = await fixture.ask('POST', `/admin/v1/accounts/${id}/invitations`, { role: 'owner' });
  for (const keyId of ['key_1', 'key_2', 'key_3']) await fill(fixture, id, { keyId, count: 2_000 });
  const path = `/v1/webhooks/${webhook.id}`;
  const accept = { token: operators.body.url.slice('/#invitation='.length), email: 'new@example.com', name: 'N' };

  const statuses = [
    await fixture.askAs(key, 'PATCH', path, { description: 'x' }),
    await fixture.askAs(key, 'PATCH', path, { active: false }),
    await fixture.askAs(key, 'POST', `${path}/rotate-secret`, {}),
    await send(fixture, owner, 'PATCH', `/v1/users/${member.userId}`, { role: 'viewer' }),
    await send(fixture, owner, 'POST', '/v1/invitations', { role: 'owner' }),
    await send(fixture, owner, 'POST', '/v1/keys', {}),
    await send(fixture, owner, 'PATCH', '/v1/me', { current_password: PASSWORD, password: 'a wholly new password' }),
    await send(fixture, null, 'POST', '/v1/invitations/accept', { ...accept, password: PASSWORD }),
  ].map(({ status }) => status);

  assert.deepEqual(statuses, [429, 200, 200, 200, 201, 201, 200, 201]);
});

test('entries are deleted after a year, a batch at a time', async () => {
  await using fixture = await openEnvironment();
  for (let i = 0; i < 2; i++) await fixture.account();
  const inDays = (days: number) => new Date(Date.now() + days * MS_PER_DAY);
  const sweep = (days: number) => deleteOldChanges(fixture.db, { keepDays: 365, limit: 3, now: inDays(days) });

  const batches = [await sweep(364.9), await sweep(365.1), await sweep(365.1), await sweep(365.1)];

  assert.deepEqual(batches, [0, 3, 1, 0]);
});
