import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Sql } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { AnswerMemory } from '../../http/route.ts';
import { makeId } from '../../platform/clock.ts';
import { jobSource } from '../../stream/sources.ts';
import { findJob } from '../store.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());

type Account = Awaited<ReturnType<typeof fixture.account>>;

const SEGMENTS = 3_000;
const LONG = JSON.stringify(
  Array.from({ length: SEGMENTS }, (_, at) => ({ start: at, end: at + 1, text: 'x'.repeat(100), confidence: null })),
);
// 60 KB.
const LONG_OPTIONS = {
  replacements: Array.from({ length: 145 }, (_, at) => ({ from: `a${at}`, to: '😀'.repeat(100) })),
};
const keyOf = (account: Account, id: string) => ({ shard: account.shard, accountId: account.id, id });

/** Completed jobs that are only rows. */
async function insertJobs(account: Account, count: number, { segments = '[]', options = {} } = {}): Promise<string[]> {
  const ids = Array.from({ length: count }, () => makeId('job')).sort();
  await fixture.db.run({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript, segments,
        options, cost_units, model, progress, created_at, started_at, completed_at)
      select $1, id, $2, 'completed', 'lite', false, 'wav', 1, 1000, 'text', $4, $5, 0, 'fake', 1, now(), now(), now()
      from unnest($3::text[]) as id`,
    values: [account.shard, account.id, ids, segments, JSON.stringify(options)],
  });
  return ids;
}

const noMemory = () => {
  throw new ApiError('rate_limited', 'Too many answers are not read yet.');
};
const FULL: AnswerMemory = { reserve: noMemory, hold: noMemory };

/** The database, with what its statements for long texts were. */
function watched() {
  const reads = { count: 0, running: 0, most: 0, areBrief: false };
  const sql: Sql = {
    ...fixture.db,
    async rows<Row>(statement: Parameters<Sql['rows']>[0]) {
      if (statement.name !== 'find_long_text') return await fixture.db.rows<Row>(statement);
      reads.count += 1;
      reads.running += 1;
      reads.most = Math.max(reads.most, reads.running);
      reads.areBrief ||= statement.isBrief === true;
      return await fixture.db.rows<Row>(statement).finally(() => (reads.running -= 1));
    },
  };
  return { sql, reads };
}

test('an account reads one long job at a time, by a statement behind which no other waits', async () => {
  const account = await fixture.account();
  const ids = await insertJobs(account, 3, { segments: LONG });
  const [short] = await insertJobs(account, 1);
  const { sql, reads } = watched();
  const reserved: number[] = [];
  const reserve = (bytes: number) => void reserved.push(bytes);

  const jobs = await Promise.all([...ids, short!].map((id) => findJob(sql, keyOf(account, id), { reserve })));

  assert.deepEqual(
    jobs.map((job) => job!.segments),
    [LONG, LONG, LONG, '[]'],
  );
  assert.deepEqual(reads, { count: 3, running: 0, most: 1, areBrief: false });
  assert.deepEqual(reserved, Array(3).fill(LONG.length + 'text'.length));
});

test('a long job is not read without memory for it, and its requests are answered 429 and change nothing', async () => {
  const account = await fixture.account();
  const [id] = await insertJobs(account, 1, { segments: LONG });
  const { sql, reads } = watched();
  const params = { id };

  await assert.rejects(findJob(sql, keyOf(account, id!), FULL), { status: 429 });
  const answers = [
    await fixture.get(account, '/v1/jobs/:id', { params, memory: FULL }),
    await fixture.get(account, '/v1/jobs/:id', { params, query: { wait: 1 }, memory: FULL }),
    await fixture.get(account, '/v1/jobs/:id/transcript', { params, memory: FULL }),
    await fixture.changeMetadata(account, id!, '{"a":1}', FULL),
    await fixture.edit(account, id!, [{ index: 0, text: 'edited' }], FULL),
  ];
  const events = await Array.fromAsync(fixture.watch(account, id!, undefined, FULL));
  const job = await fixture.job(account, id!);
  const [row] = await fixture.db.rows<{ edits: unknown }>({
    text: 'select edits from jobs where id = $1',
    values: [id],
  });

  assert.deepEqual(
    answers.map(({ status }) => status),
    [429, 429, 429, 429, 429],
  );
  assert.deepEqual([reads.count, events, job.metadata, row!.edits], [0, [], null, null]);
});

test('the change of the metadata of a long job is answered with its text', async () => {
  const account = await fixture.account();
  const [id] = await insertJobs(account, 1, { segments: LONG });

  const { json } = await fixture.changeMetadata(account, id!, '{"a":1}');

  assert.deepEqual([json.metadata, json.text, json.segments.length], [{ a: 1 }, 'text', SEGMENTS]);
});

test('the memory for the segments of an event stream counts while its client does not take them', async () => {
  const account = await fixture.account();
  const [id] = await insertJobs(account, 1, { segments: LONG });
  let held = 0;
  const hold = (bytes: number) => {
    held += bytes;
    return { [Symbol.dispose]: () => void (held -= bytes) };
  };
  const events = fixture.watch(account, id!, undefined, { reserve: () => undefined, hold });

  await events.next();
  const heldMeanwhile = held;
  const rest = await Array.fromAsync(events);

  assert.ok(heldMeanwhile >= 2 * LONG.length, `${heldMeanwhile} bytes were held`);
  assert.deepEqual([held, rest.filter(({ event }) => event === 'segment').length], [0, SEGMENTS]);
});

test('a page of jobs with long options has at most 1 MiB, and all jobs are on one page', async () => {
  const account = await fixture.account();
  const ids = await insertJobs(account, 40, { options: LONG_OPTIONS });
  const found: string[] = [];
  const sizes: number[] = [];

  for (let cursor: string | null = ''; cursor !== null; ) {
    const { json, text } = await fixture.get(account, '/v1/jobs', { query: { limit: 100, ...(cursor && { cursor }) } });
    found.push(...json.data.map((job: { id: string }) => job.id));
    sizes.push(Buffer.byteLength(text));
    cursor = json.next_cursor;
  }

  assert.deepEqual(found, ids.toReversed());
  assert.equal(sizes.length, 3);
  assert.ok(Math.max(...sizes) <= 2 ** 20, `pages have ${sizes} bytes`);
});

test('a stream reads jobs with long options 1 MiB at a time', async () => {
  const account = await fixture.account();
  const ids = await insertJobs(account, 40, { options: LONG_OPTIONS });
  const source = jobSource(fixture.db, { shard: account.shard, accountId: account.id }, fixture.waits);

  const rows = await source.page({ at: '-infinity', id: '' }, 500);
  const onPage = source.countOfPage!(rows);
  const next = await source.page(rows[onPage - 1]!, 500);

  assert.ok(onPage >= 15 && onPage < 17 && rows.length === onPage + 1, `${onPage} of ${rows.length} rows`);
  assert.deepEqual(
    rows.slice(0, onPage).map(({ id }) => id),
    ids.slice(0, onPage),
  );
  assert.equal(next[0]!.id, ids[onPage]);
});
