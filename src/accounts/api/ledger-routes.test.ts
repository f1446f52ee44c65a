import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openAccountFixture } from '../../../test/fixtures/account.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { makeId } from '../../platform/clock.ts';
import { shardOf } from '../../rules/shard.ts';
import { addCredit, holdForJob } from '../ledger/ledger-store.ts';

type Entry = { number: number; kind: string; amount: number; held: number; balance: { amount: number; held: number } };
type Fixture = Awaited<ReturnType<typeof openAccountFixture>>;

/** All pages of a list, and what the reader does between two of them. */
async function readAll(fixture: Fixture, key: string, limit: number, between: () => Promise<unknown> = async () => 0) {
  const entries: Entry[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const { body } = await fixture.askAs(key, 'GET', `/v1/ledger?limit=${limit}${after}`);
    entries.push(...body.data);
    assert.equal(body.has_more, body.next_cursor !== null);
    cursor = body.next_cursor;
    await between();
  }
  return entries;
}

test('each entry shows the balance after it, in the order of the changes', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(10);
  const account = { id, shard: shardOf(id), unlimited: false };
  await holdForJob(fixture.db, { account, jobId: makeId('job'), units: 60_000_000 });
  await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -2.5, note: 'chargeback' });

  const { status, body } = await fixture.askAs(key, 'GET', '/v1/ledger');
  const forOperator = await fixture.ask('GET', `/admin/v1/accounts/${id}/ledger`);

  assert.equal(status, 200);
  assert.deepEqual(
    body.data.map(({ number, kind, amount, held, balance, note }: Entry & { note: string | null }) => [
      ...[number, kind, amount, held, balance.amount, balance.held, note],
    ]),
    [
      [3, 'credit', -2.5, 0, 6.5, 1, 'chargeback'],
      [2, 'hold', -1, 1, 9, 1, null],
      [1, 'credit', 10, 0, 10, 0, null],
    ],
  );
  assert.deepEqual([body.has_more, body.next_cursor], [false, null]);
  assert.deepEqual(forOperator.body, body);
});

test('pages show each entry once, also while entries are added, and their balances are the running sum', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(100);
  const account = { id, shard: shardOf(id), unlimited: false };
  const random = randomFrom(71_205);
  const move = () =>
    random.next() < 0.5
      ? addCredit(fixture.db, { account, units: random.integer(1_000_000), note: null })
      : holdForJob(fixture.db, { account, jobId: makeId('job'), units: random.integer(1_000_000) });
  await Promise.all(Array.from({ length: 25 }, move));

  const entries = await readAll(fixture, key, 4, move);

  assert.deepEqual(
    entries.map(({ number }) => number),
    Array.from({ length: 26 }, (_, index) => 26 - index),
  );
  const [rows] = await fixture.db.rows<{ wrong: number }>({
    text: `select count(*) as wrong
      from (select *, sum(amount_change) over running as amount, sum(held_change) over running as held
        from ledger where shard = $1 and account_id = $2 window running as (order by number)) as entries
      where amount <> amount_after or held <> held_after`,
    values: [account.shard, id],
  });
  assert.equal(rows!.wrong, 0);
});

test('a ledger is shown to its account only, and an unlimited account has an empty one', async () => {
  await using fixture = await openAccountFixture();
  await fixture.account(10);
  const unlimited = await fixture.account();
  const noUsage = await fixture.account(10, { scopes: ['jobs:read'] });

  const own = await fixture.askAs(unlimited.key, 'GET', '/v1/ledger');
  const refused = await fixture.askAs(noUsage.key, 'GET', '/v1/ledger');
  const unknown = await Promise.all(
    [makeId('acct'), 'x'].map((id) => fixture.ask('GET', `/admin/v1/accounts/${id}/ledger`)),
  );

  assert.deepEqual(own.body.data, []);
  assert.deepEqual([refused.status, refused.body.error.type], [403, 'missing_scope']);
  assert.deepEqual(
    unknown.map(({ status }) => status),
    [404, 404],
  );
});

test('a cursor of another list is refused', async () => {
  await using fixture = await openAccountFixture();
  const { key } = await fixture.account(10);
  const cursors = ['1'.repeat(26), `${'0'.repeat(13)}${'z'.repeat(13)}`, 'x'];

  const answers = await Promise.all(cursors.map((cursor) => fixture.askAs(key, 'GET', `/v1/ledger?cursor=${cursor}`)));

  assert.deepEqual(
    answers.map(({ status, body }) => [status, body.error.param]),
    cursors.map(() => [400, 'cursor']),
  );
});

test('the ledger is answered as CSV page by page, with notes that are no formulas', async () => {
  await using fixture = await openAccountFixture();
  const { id, key } = await fixture.account(10);
  await fixture.ask('POST', `/admin/v1/accounts/${id}/credits`, { amount: -2.5, note: '=1+1, "x"' });
  const ask = (url: string, accept?: string) =>
    fixture.app.inject({ url, headers: { 'x-api-key': key, ...(accept && { accept }) } });

  const first = await ask('/v1/ledger?limit=1', 'text/csv');
  const second = await ask(`/v1/ledger?limit=1&format=csv&cursor=${first.headers['x-next-cursor']}`);

  assert.equal(first.headers['content-type'], 'text/csv; charset=utf-8');
  const [head, line, end] = first.body.split('\r\n');
  assert.equal(head, 'id,account_id,number,kind,amount,held,balance.amount,balance.held,job_id,note,created_at');
  assert.ok(line!.includes(`,${id},2,credit,-2.5,0,7.5,0,,"'=1+1, ""x""",`), line);
  assert.deepEqual([end, second.statusCode, second.headers['x-next-cursor']], ['', 200, undefined]);
});
