import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { emitEvent } from '../../../test/fixtures/webhooks/emit-event.ts';
import type { Account } from '../../accounts/account.ts';
import { writeJson } from '../../platform/json.ts';
import { eventRoutes } from './routes.ts';

const ACCOUNT: Account = { id: 'acct_a', shard: 7, name: 'a', plan: 'pro', unlimited: true };
const STRANGER: Account = { ...ACCOUNT, id: 'acct_b' };

async function openEnvironment() {
  const db = await openTestDatabase();
  const [list, one] = eventRoutes({ db });
  const ask = async (route: typeof list, account: Account, given: object) => {
    const answer = await route!.handle({ account, query: { limit: 20 }, params: {}, ...given } as never);
    return writeJson(answer.body);
  };
  return {
    db,
    emit: (type: 'transcription.completed' | 'transcription.failed', metadata: string | null = null, jobId = 'job_1') =>
      db.transaction((tx) => emitEvent(tx, { account: ACCOUNT, type, jobId, data: { job: { id: jobId } }, metadata })),
    list: async (query: object, account = ACCOUNT) =>
      JSON.parse(await ask(list, account, { query: { limit: 20, ...query } })),
    one: (id: string, account = ACCOUNT) => ask(one, account, { params: { id } }),
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

test('events are listed newest first, by type, and only to their account', async () => {
  await using fixture = await openEnvironment();
  const first = await fixture.emit('transcription.completed');
  const second = await fixture.emit('transcription.failed');
  const idsOf = (page: { data: { id: string }[] }) => page.data.map((event) => event.id);

  assert.deepEqual(idsOf(await fixture.list({})), [second, first]);
  assert.deepEqual(idsOf(await fixture.list({ type: 'transcription.completed' })), [first]);
  assert.deepEqual(idsOf(await fixture.list({}, STRANGER)), []);
  const { next_cursor } = await fixture.list({ limit: 1 });
  assert.deepEqual(idsOf(await fixture.list({ limit: 1, cursor: next_cursor })), [first]);
});

test('the events of one job are listed', async () => {
  await using fixture = await openEnvironment();
  const first = await fixture.emit('transcription.failed', null, 'job_2');
  await fixture.emit('transcription.failed');
  const last = await fixture.emit('transcription.completed', null, 'job_2');
  const idsOf = (page: { data: { id: string }[] }) => page.data.map((event) => event.id);

  assert.deepEqual(idsOf(await fixture.list({ job_id: 'job_2' })), [last, first]);
  assert.deepEqual(idsOf(await fixture.list({ job_id: 'job_2', type: 'transcription.failed' })), [first]);
  assert.deepEqual(idsOf(await fixture.list({ job_id: 'job_3' })), []);
  assert.deepEqual(idsOf(await fixture.list({ job_id: 'job_2' }, STRANGER)), []);
});

test('an event shows the payload as it is sent and the attempts that wait; one that is due may be under way', async () => {
  await using fixture = await openEnvironment();
  await fixture.db.run({
    text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
      values (7, 'wh_1', 'acct_a', 'https://x.example/', '{transcription.completed}', '', now(), now())`,
  });
  const id = await fixture.emit('transcription.completed', '{"n":12345678901234567890}');

  const text = await fixture.one(id);

  assert.ok(text.includes('"metadata":{"n":12345678901234567890}'), text);
  const [delivery] = JSON.parse(text).deliveries;
  assert.deepEqual(
    [delivery.webhook_id, delivery.status, delivery.attempt, delivery.url],
    ['wh_1', 'pending', 1, 'https://x.example/'],
  );
  assert.equal(delivery.next_attempt_at, null);
});

test('an attempt that failed shows why and when the next one comes', async () => {
  await using fixture = await openEnvironment();
  const id = await fixture.emit('transcription.completed');
  await fixture.db.run({
    text: `insert into deliveries (shard, id, account_id, webhook_id, event_id, event_type, attempt, attempt_id, next_at, created_at)
      values (7, 'dl_1', 'acct_a', 'wh_1', $1, 'transcription.completed', 2, 'dlv_2', '2030-01-01Z', now())`,
    values: [id],
  });
  await fixture.db.run({
    text: `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
        error_reason, error_message, duration_ms, created_at, completed_at)
      values (7, 'dlv_1', 'acct_a', 'wh_1', $1, 'transcription.completed', 'dl_1', 'https://x.example/', 1, 'failed',
        'timeout', 'no answer', 5000.5, now(), now())`,
    values: [id],
  });

  const [pending, failed] = JSON.parse(await fixture.one(id)).deliveries;

  assert.deepEqual([pending.id, pending.status], ['dlv_2', 'pending']);
  assert.deepEqual([failed.id, failed.status, failed.duration_ms], ['dlv_1', 'failed', 5000.5]);
  assert.deepEqual(failed.error, { reason: 'timeout', message: 'no answer' });
  assert.equal(failed.next_attempt_at, '2030-01-01T00:00:00.000Z');
});

test('an event of another account is not there', async () => {
  await using fixture = await openEnvironment();
  const id = await fixture.emit('transcription.completed');

  await assert.rejects(fixture.one(id, STRANGER), { type: 'not_found' });
  await assert.rejects(fixture.one('nonsense'), { type: 'not_found' });
});
