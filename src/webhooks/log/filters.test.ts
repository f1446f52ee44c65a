import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { insertLogEntries, type LogEntry } from '../../../test/fixtures/webhooks/log-entries.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import type { Sql, Statement } from '../../db/database.ts';
import { type LogFilter, listAttempts } from './log-store.ts';

const BEGIN_MS = Date.now() - 3_600_000;

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture();
});
after(() => environment[Symbol.asyncDispose]());

type Entry = { id: string; webhook_id: string; status: string };

/** A new account with two webhooks, each with the same entries in its log, a second apart. */
async function openLogs(given: Partial<LogEntry>[]) {
  const { call, account } = await environment.caller();
  const { db } = environment.fixture;
  const webhooks = [await environment.fixture.webhook(account), await environment.fixture.webhook(account)];
  const ids: string[][] = [];
  for (const [i, { id }] of webhooks.entries()) {
    const entries = given.map((entry, index) => ({ createdAtMs: BEGIN_MS + 1_000 * index + i, ...entry }));
    ids.push(await insertLogEntries(db, { account, webhookId: id }, entries));
  }
  const read = async (route: string) => {
    const answer = await call('GET', route);
    return { ...answer, entries: (answer.json.data ?? []) as Entry[] };
  };
  const paths = webhooks.map(({ id }) => `/v1/webhooks/${id}/deliveries`) as [string, string];
  return { account, call, webhooks, ids: ids as [string[], string[]], read, paths };
}

const ATTEMPTS: Partial<LogEntry>[] = [
  { responseStatus: 204 },
  { status: 'failed', reason: 'http_status', responseStatus: 503 },
  { attempt: 2, responseStatus: 200 },
  { status: 'failed', reason: 'http_status', responseStatus: 404 },
  { status: 'failed', reason: 'redirect', responseStatus: 301, attempt: 2 },
  { status: 'failed', reason: 'timeout', attempt: 4 },
  { status: 'dropped' },
];

const FILTERS: [string, number[]][] = [
  ['reason=timeout', [5]],
  ['reason=http_status', [1, 3]],
  ['reason=tls', []],
  ['status_class=2xx', [0, 2]],
  ['status_class=3xx', [4]],
  ['status_class=4xx', [3]],
  ['status_class=5xx', [1]],
  ['attempt=1', [0, 1, 3, 6]],
  ['attempt=2', [2, 4]],
  ['attempt=3', []],
  ['attempt=2&status=succeeded', [2]],
  ['status=failed&status_class=2xx', []],
  ['reason=http_status&status_class=5xx&attempt=1', [1]],
];

test('filters choose by reason, class of the status and attempt, in one log and over all', async () => {
  const { account, webhooks, ids, read, paths } = await openLogs(ATTEMPTS);
  // One that waits, with attempt 1 next, is in no list of answers.
  await environment.fixture.emit(account);
  for (const [query, expected] of FILTERS) {
    const waits = query === 'attempt=1' ? 1 : 0;
    for (const [i, path] of paths.entries()) {
      const { entries } = await read(`${path}?${query}`);
      const made = entries.filter(({ status }) => status !== 'pending').map(({ id }) => ids[i]!.indexOf(id));
      assert.deepEqual([made, entries.length - made.length], [expected.toReversed(), waits], query);
      const { entries: ofOne } = await read(`/v1/deliveries?${query}&webhook_id=${webhooks[i]!.id}`);
      assert.deepEqual(ofOne, entries, query);
    }
    const { entries: all } = await read(`/v1/deliveries?${query}`);
    assert.equal(all.length, 2 * (expected.length + waits), query);
  }
});

test('the log over all webhooks is in order and pages through each entry once', async () => {
  const { account, ids, read, webhooks } = await openLogs(ATTEMPTS);
  await environment.fixture.emit(account);

  const seen: string[] = [];
  for (let cursor = ''; ; ) {
    const { json, entries } = await read(`/v1/deliveries?limit=5${cursor}`);
    seen.push(...entries.map(({ id }) => id));
    if (!json.has_more) break;
    cursor = `&cursor=${json.next_cursor}`;
  }

  assert.equal(seen.length, 2 * ATTEMPTS.length + webhooks.length);
  assert.deepEqual(seen, seen.toSorted().toReversed());
  assert.deepEqual(seen.slice(webhooks.length).sort(), ids.flat().sort());
});

test("no log shows another account's entries, also when a filter names its webhook", async () => {
  const owner = await openLogs(ATTEMPTS);
  const stranger = await openLogs([]);
  const [foreign] = owner.webhooks;

  for (const query of ['', `?webhook_id=${foreign!.id}`, '?webhook_id=x']) {
    assert.deepEqual((await stranger.read(`/v1/deliveries${query}`)).json.data, []);
  }
  const crossed = await owner.read(`${owner.paths[0]}?webhook_id=${owner.webhooks[1]!.id}`);
  assert.deepEqual([crossed.status, crossed.json], [200, { data: [], has_more: false, next_cursor: null }]);
});

const REFUSED = ['reason=no', 'status_class=200', 'status_class=1xx', 'attempt=0', 'attempt=5', 'attempt=x', 'type=x'];
test('unknown values and parameters are refused by name', async () => {
  const { read, paths } = await openLogs([]);

  for (const query of REFUSED) {
    for (const route of ['/v1/deliveries', paths[0]]) {
      const { status, json } = await read(`${route}?${query}`);
      assert.deepEqual([status, json.error.param], [400, query.split('=')[0]], query);
    }
  }
});

test('a filter that few of many entries pass reads only a few of the others', async () => {
  const many = Array.from({ length: 6_000 }, () => ({ responseStatus: 200 }));
  const { account, webhooks, ids } = await openLogs([...many, { status: 'failed', reason: 'tls', attempt: 3 }]);
  const { db } = environment.fixture;
  await db.run({ text: 'analyze attempts' });
  let plan = '';
  const explainer = {
    async rows({ text, values }: Statement) {
      plan = JSON.stringify(await db.rows({ text: `explain (analyze, format json) ${text}`, values: values ?? [] }));
      return [];
    },
  } as unknown as Sql;
  const filters: Partial<LogFilter>[] = [
    ...[{ reason: 'tls' as const }, { attempt: 3 }, { status: 'failed' as const }, { statusClass: 500 }],
    { status: 'succeeded', attempt: 2 },
  ];

  for (const filter of filters) {
    for (const webhookId of [webhooks[0]!.id, null]) {
      await listAttempts(explainer, { shard: account.shard, accountId: account.id, webhookId }, { ...ALL, ...filter });
      const removed = [...plan.matchAll(/"Rows Removed by Filter":(\d+)/g)].map(([, rows]) => Number(rows));
      assert.ok(Math.max(0, ...removed) < 100, `${JSON.stringify(filter)}: ${plan}`);
    }
  }
  const scope = { shard: account.shard, accountId: account.id, webhookId: null };
  const found = await listAttempts(db, scope, { ...ALL, reason: 'tls' });
  assert.deepEqual(found.map(({ id }) => id).sort(), [ids[0].at(-1), ids[1].at(-1)].sort());
});

const ALL: LogFilter = {
  status: null,
  eventType: null,
  eventId: null,
  reason: null,
  statusClass: null,
  attempt: null,
  after: null,
  before: null,
  beforeId: null,
  limit: 20,
};
