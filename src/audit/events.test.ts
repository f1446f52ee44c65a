import assert from 'node:assert/strict';
import test from 'node:test';
import { openAccountFixture } from '../../test/fixtures/account.ts';
import { TEST_ACTOR } from '../../test/fixtures/caller.ts';
import { type Browser, join, me, OWNER, PASSWORD, send, setUp, signIn } from '../../test/fixtures/people.ts';
import { runtimeOn } from '../../test/fixtures/runtime.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Actor } from '../accounts/account.ts';
import type { Log } from '../platform/log.ts';
import { recordEvent } from './events.ts';

type Fixture = Awaited<ReturnType<typeof openAccountFixture>>;
type Row = { action: string; accountId: string; userId: string | null; targetId: string; address: string };

const eventsOf = ({ db }: Pick<Fixture, 'db'>) =>
  db.rows<Row>({
    text: `
      select action, account_id as "accountId", user_id as "userId", target_id as "targetId", address
      from audit_log
      where counted_as = 'event'
      order by created_at, id`,
  });

test('the audit log has who signed in and out, and who failed to, with account and address', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  const { id: userId, account_id: accountId } = await me(fixture, owner);
  const browser: Browser = await signIn(fixture, OWNER.email);
  await send(fixture, browser, 'DELETE', '/v1/session');
  const seen = (await eventsOf(fixture)).length;
  await send(fixture, null, 'POST', '/v1/sign-in', { email: OWNER.email, password: 'wrong' });
  await until('the failure', async () => (await eventsOf(fixture)).length === seen + 1);
  await send(fixture, null, 'POST', '/v1/sign-in', { email: 'nobody@example.com', password: 'wrong' });
  await until('the other failure', async () => (await eventsOf(fixture)).length === seen + 2);

  const events = await eventsOf(fixture);

  assert.deepEqual(
    events.map(({ action }) => action),
    ['session.created', 'session.created', 'session.ended', 'sign_in.failed', 'sign_in.failed'],
  );
  const own = { accountId, userId, address: '127.0.0.1' };
  assert.deepEqual(events[1], { ...own, action: 'session.created', targetId: userId });
  assert.deepEqual(events[2], { ...own, action: 'session.ended', targetId: accountId });
  assert.deepEqual(events[3], { ...own, action: 'sign_in.failed', userId: null, targetId: userId });
  assert.deepEqual([events[4]!.accountId, events[4]!.targetId], ['', '']);
});

test('the audit log has wrong tokens of the operator, sessions of keys, and lists that were read as CSV', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(1);
  const get = (url: string, headers: Record<string, string>) => fixture.app.inject({ url, headers });

  await get('/admin/v1/accounts', { authorization: 'Bearer wrong' });
  await get('/admin/v1/accounts', {});
  await fixture.askAs(key, 'POST', '/v1/session');
  await get('/v1/ledger?format=csv', { 'x-api-key': key });
  await get('/v1/ledger', { 'x-api-key': key });

  assert.deepEqual(
    (await eventsOf(fixture)).map(({ action, accountId }) => [action, accountId]),
    [
      ['admin_token.refused', ''],
      ['session.created', id],
      ['list.exported', id],
    ],
  );
});

test('what reading causes is in the audit log once for each key and target in 24 hours', async () => {
  await using fixture = await openAccountFixture();
  const { id: accountId } = await fixture.account(1);
  const lines: object[] = [];
  const log = { info: (line: object) => void lines.push(line), warn: assert.fail } as unknown as Log;
  const runtime = { ...runtimeOn(fixture.db), log };
  const actor = (id: string): Actor => ({ ...TEST_ACTOR, key: { ...TEST_ACTOR.key!, id } });
  const reads = ['job_1', 'job_1', 'job_2'].map((targetId) => ({ action: 'audio_link.created', targetId }) as const);
  const exported = { action: 'list.exported', targetId: accountId } as const;
  const edited = { action: 'transcript.edited', targetId: 'job_1' } as const;
  const events = [...reads, exported, exported, edited, edited];

  for (const keyId of ['key_1', 'key_2'])
    for (const event of events) await recordEvent(runtime, actor(keyId), { accountId, ...event });
  const day = await eventsOf(fixture);
  await fixture.db.run({ text: `update audit_log set created_at = created_at - interval '24 hours'` });
  await recordEvent(runtime, actor('key_1'), { accountId, ...reads[0]! });

  const once = ['audio_link.created', 'audio_link.created', 'list.exported', 'transcript.edited', 'transcript.edited'];
  assert.deepEqual(
    day.map(({ action }) => action),
    [...once, ...once],
  );
  assert.equal((await eventsOf(fixture)).length, day.length + 1);
  assert.equal(lines.length, 2 * events.length + 1);
});

test('events of one address beyond 2,000 in 24 hours are in the log of the service only', async () => {
  await using fixture = await openAccountFixture();
  const owner = await setUp(fixture);
  await join(fixture, owner, 'member');
  await fixture.db.run({
    text: `
      insert into audit_log (id, account_id, action, target_id, details, address, request_id, created_at, counted_as)
      select 'aud_' || number, '', 'sign_in.failed', '', '{}', '192.0.2.7', '', clock_timestamp(), 'event'
      from generate_series(1, 2000) as number`,
  });
  const lines: object[] = [];
  const log = { info: (line: object) => void lines.push(line), warn: assert.fail } as unknown as Log;
  const runtime = { ...runtimeOn(fixture.db), log };
  const actor = (address: string): Actor => ({ key: null, sessionId: null, user: null, address, requestId: 'req_1' });
  const event = { accountId: '', action: 'sign_in.failed', targetId: '' } as const;
  const before = (await eventsOf(fixture)).length;

  for (const address of ['192.0.2.7', '198.51.100.1']) await recordEvent(runtime, actor(address), event);

  assert.equal((await eventsOf(fixture)).length, before + 1);
  assert.deepEqual(lines, [
    { event: 'sign_in.failed', address: '192.0.2.7', request_id: 'req_1' },
    { event: 'sign_in.failed', address: '198.51.100.1', request_id: 'req_1' },
  ]);
  assert.equal(
    (await send(fixture, owner, 'PATCH', '/v1/me', { current_password: PASSWORD, password: 'a new password' })).status,
    200,
  );
});
