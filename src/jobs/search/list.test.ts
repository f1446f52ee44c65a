import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { bare, callRoute, openJobFixture } from '../../../test/fixtures/job.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Database, Statement } from '../../db/database.ts';
import { makeId } from '../../platform/clock.ts';
import { listRoute } from './list-route.ts';
import { findListEnd, listJobs } from './list-store.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());

type Account = Awaited<ReturnType<typeof fixture.account>>;
type Pairs = Record<string, string>;

const send = async (account: Account, metadata?: string) =>
  (await fixture.transcribe(account, wavFile(1), { async: 'true', ...(metadata !== undefined && { metadata }) })).json
    .id as string;
const list = async (account: Account, query: object) => (await fixture.get(account, '/v1/jobs', { query })).json;
const idsOf = (page: { data: { id: string }[] }) => page.data.map(({ id }) => id);
const byMetadata = async (account: Account, metadata: Pairs, query: object = {}) =>
  idsOf(await list(account, { metadata, ...query }));

const ANY = { status: null, plan: null, createdAfter: null, createdBefore: null, name: null, ids: null };

/** Ids in order: those of one millisecond are in no order. */
const makeIds = (count: number) => Array.from({ length: count }, () => makeId('job')).sort();

/** A queued job that is only a row. */
async function insertJob(account: Account, id: string, filename: string | null) {
  await fixture.db.run({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, filename,
        next_at, created_at)
      values ($1, $2, $3, 'queued', 'lite', false, 'wav', 1, 1, $4, now(), now())`,
    values: [account.shard, id, account.id, filename],
  });
}

test('jobs are found by the values of their metadata, as text', async () => {
  const account = await fixture.account();
  const one = await send(account, '{"order": 12345678901234567890, "paid": true, "tags": {"a": 1}}');
  const two = await send(account, '{"order": "12345678901234567890", "paid": false, "note": "x y & z"}');
  await send(account);
  await send(account, '["order"]');

  assert.deepEqual(await byMetadata(account, { order: '12345678901234567890' }), [two, one]);
  assert.deepEqual(await byMetadata(account, { order: '12345678901234567890', paid: 'true' }), [one]);
  assert.deepEqual(await byMetadata(account, { note: 'x y & z', paid: 'false', order: '12345678901234567890' }), [two]);
  assert.deepEqual(await byMetadata(account, { order: '12345678901234567890', note: 'other' }), []);
  const never: Pairs[] = [{ tags: '{"a":1}' }, { order: '1' }, { order: '\u0000' }, { '\ud800': 'x' }];
  for (const pairs of never) assert.deepEqual(await byMetadata(account, pairs), []);
  assert.deepEqual(await byMetadata(account, { order: '12345678901234567890' }, { status: 'canceled' }), []);
});

test("another account's jobs are not found by their metadata", async () => {
  const [one, other] = [await fixture.account({ shard: 5 }), await fixture.account({ shard: 5 })];
  const id = await send(one, '{"order": 7}');

  assert.deepEqual(await byMetadata(one, { order: '7' }), [id]);
  assert.deepEqual(await byMetadata(other, { order: '7' }), []);
});

test('jobs are found by a part of the file name in any case, and by their ids', async () => {
  const account = await fixture.account();
  const names = ['Meeting ÉCOLE (1).mp3', 'meeting_école.wav', 'МОСКВА.wav', null, '100%.wav'];
  const ids = new Map(makeIds(names.length).map((id, index) => [id, names[index]!]));
  for (const [id, name] of ids) await insertJob(account, id, name);
  const found = async (query: string) => idsOf(await list(account, { query })).map((id) => ids.get(id)!);
  const [id] = [...ids.keys()] as [string];

  assert.deepEqual(await found('MEETING'), ['meeting_école.wav', 'Meeting ÉCOLE (1).mp3']);
  assert.deepEqual(await found('école'), ['meeting_école.wav', 'Meeting ÉCOLE (1).mp3']);
  assert.deepEqual(await found('москва'), ['МОСКВА.wav']);
  assert.deepEqual(await found('(1).'), ['Meeting ÉCOLE (1).mp3']);
  for (const nothing of ['%.mp3', '_.', '.*', 'meeting.*', '\\', 'job_0']) assert.deepEqual(await found(nothing), []);
  assert.deepEqual(await found('0%'), ['100%.wav']);
  assert.deepEqual(idsOf(await list(account, { query: id })), [id]);
  assert.equal((await list(account, { query: id.slice(0, 12) })).data.length, names.length);
  assert.deepEqual(idsOf(await list(await fixture.account(), { query: id })), []);
});

test('pages of a filtered list show each job once, while jobs are added and others erased', async () => {
  const account = await fixture.account();
  const random = randomFrom(5_118);
  const wanted: string[] = [];
  const others: string[] = [];
  for (let index = 0; index < 30; index++) {
    const isWanted = random.next() < 0.5;
    const id = await send(account, `{"kind": "${isWanted ? 'a' : 'b'}", "index": ${index}}`);
    (isWanted ? wanted : others).push(id);
  }

  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await list(account, { metadata: { kind: 'a' }, limit: 4, ...(cursor && { cursor }) });
    seen.push(...idsOf(page));
    cursor = page.next_cursor;
    await send(account, '{"kind": "a"}');
    await fixture.erase(account, others.pop()!);
  }

  assert.deepEqual(seen, wanted.toSorted().toReversed());
});

test('a filter that no index serves reads a bounded part of the jobs, and the next page the part after it', async () => {
  const account = await fixture.account();
  const owner = { shard: account.shard, accountId: account.id };
  const ids = makeIds(10);
  for (const [index, id] of ids.entries()) await insertJob(account, id, index === 1 ? 'needle.wav' : 'hay.wav');
  const filter = { ...ANY, name: 'needle', pairs: [] };

  const pages: string[][] = [];
  for (let beforeId: string | null = null, isOver = false; !isOver; ) {
    const fromId: string | null = await findListEnd(fixture.db, owner, { beforeId, pair: null, limit: 4 });
    pages.push((await listJobs(fixture.db, owner, filter, { limit: 5, beforeId, fromId })).map(({ id }) => id));
    isOver = fromId === null;
    beforeId = fromId;
  }

  assert.deepEqual(pages, [[], [], [ids[1]]]);
});

test('an erased job is found no longer, and leaves no pair', async () => {
  const account = await fixture.account();
  const id = await send(account, '{"order": "gone"}');

  await fixture.erase(account, id);

  assert.deepEqual(await byMetadata(account, { order: 'gone' }), []);
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from job_metadata where job_id = $1', values: [id] }), []);
});

test('jobs are listed as CSV, with their metadata as it was written', async () => {
  const account = await fixture.account();
  const id = await send(account, '{"order": 12345678901234567890}');
  await fixture.db.run({ text: "update jobs set filename = '=cmd|x' where id = $1", values: [id] });

  const { text, contentType } = await fixture.get(account, '/v1/jobs', { query: { format: 'csv' } });

  assert.equal(contentType, 'text/csv; charset=utf-8');
  const [head, line, ...rest] = text.split('\r\n');
  assert.match(
    head!,
    /^id,status,waiting_for,waiting_since,plan,model,language,translated_to,audio\.filename,.*,metadata,options\.language,/,
  );
  assert.ok(line!.startsWith(`${id},queued,,,pro,,,,'=cmd|x,wav,1,`), line);
  assert.ok(line!.includes(',"{""order"": 12345678901234567890}",'), line);
  assert.deepEqual(rest, ['']);
});

test('an account looks through all its jobs for two pages at once, and nobody else waits for it', async () => {
  const [busy, other] = [await fixture.account(), await fixture.account()];
  const held = Promise.withResolvers<void>();
  let reading = 0;
  const db: Database = {
    ...fixture.db,
    async rows<Row>(statement: Statement) {
      if (statement.name === 'find_list_end' && statement.values?.[1] === busy.id) {
        reading += 1;
        await held.promise;
      }
      return await fixture.db.rows<Row>(statement);
    },
  };
  const route = listRoute({ ...fixture, db });
  const pageOf = (account: Account, query: object) =>
    callRoute(route, { ...bare(account), query: { limit: 1, ...query } });

  const pages = Array.from({ length: 6 }, () => pageOf(busy, { query: 'a' }));
  const others = await Promise.all([pageOf(other, { query: 'a' }), pageOf(busy, {})]);
  const atOnce = reading;
  held.resolve();

  assert.deepEqual(
    [...others, ...(await Promise.all(pages))].map(({ status }) => status),
    Array(8).fill(200),
  );
  assert.deepEqual([atOnce, reading], [2, 6]);
});
