import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import type { Transcript } from '../../engines/engine.ts';
import { SHARD_COUNT } from '../../rules/shard.ts';
import { deleteOldJobs } from '../retention/retention-store.ts';
import { deleteSomeChunks } from './chunk-store.ts';
import { reindexChunks } from './reindex.ts';

const fixture = await openJobFixture();
after(() => fixture[Symbol.asyncDispose]());
const engine = openFakeEngine();
await fixture.startWorker(engine, { concurrency: 1 });

type Account = Awaited<ReturnType<typeof fixture.account>>;
type Found = { job_id: string; hits: { segment: number; text: string; highlights: [number, number][] }[] };

/** A completed job whose transcript has these segments, of ten seconds each. */
async function transcribed(account: Account, texts: string[], language = 'en', fields: Record<string, string> = {}) {
  const { json } = await fixture.transcribe(account, wavFile(1), { async: 'true', ...fields });
  const call = await engine.nextCall();
  call.answer(transcriptOf(texts, language));
  await fixture.ended(account, json.id);
  return json.id as string;
}

function transcriptOf(texts: string[], language: string): Transcript {
  const segments = texts.map((text) => ({ text, startSeconds: 0, endSeconds: 1, confidence: null, words: [] }));
  return { language, segments };
}

const search = async (account: Account, q: string, query: object = {}) =>
  (await fixture.get(account, '/v1/search', { query: { q, ...query } })).json;
const idsOf = (answer: { data: Found[] }) => answer.data.map((found) => found.job_id);
const marked = ({ hits }: Found) =>
  hits.map(({ segment, text, highlights }) => [segment, ...highlights.map(([from, to]) => text.slice(from, to))]);

test('transcripts that hold the words are found, newest first, with the segments and the words marked', async () => {
  const account = await fixture.account();
  const texts = ['Good morning.', 'The annual Budget — is “done”.', 'No more budgets, please.', 'Budget, budget!'];
  const first = await transcribed(account, texts);
  const second = await transcribed(account, ['A budget meeting.'], 'en', { title: 'Budget 2027' });

  const all = await search(account, 'BUDGET');
  const one = await search(account, 'annual budget');

  assert.deepEqual(idsOf(all), [second, first]);
  assert.deepEqual(marked(all.data[1]), [
    [1, 'Budget'],
    [2, 'budgets'],
    [3, 'Budget', 'budget'],
  ]);
  assert.deepEqual(one.data.map(marked), [
    [
      [1, 'annual', 'Budget'],
      [2, 'budgets'],
      [3, 'Budget', 'budget'],
    ],
  ]);
  const { hits, created_at: createdAt, ...rest } = all.data[0];
  assert.deepEqual(rest, { job_id: second, title: 'Budget 2027', filename: 'a.wav', language: 'en' });
  assert.deepEqual(hits, [{ segment: 0, start: 0, end: 1, text: 'A budget meeting.', highlights: [[2, 8]] }]);
  assert.equal(createdAt, (await fixture.job(account, second)).created_at);
});

test('phrases, exclusions and alternatives', async () => {
  const account = await fixture.account();
  const ids = new Map<string, string>();
  for (const text of ['big red car', 'red big cars', 'blue car', "don't stop", 'green']) {
    ids.set(text, await transcribed(account, text.split(' ')));
  }
  const found = async (q: string, query: object = {}) =>
    idsOf(await search(account, q, query)).map((id) => [...ids].find(([, known]) => known === id)![0]);

  assert.deepEqual(await found('"big red"'), ['big red car']);
  assert.deepEqual(await found('car -blue'), ['red big cars', 'big red car']);
  assert.deepEqual(await found('car -"big red" -"blue car"'), ['red big cars']);
  assert.deepEqual(await found('green or blue'), ['green', 'blue car']);
  assert.deepEqual(await found('"cars"'), ['red big cars']);
  assert.deepEqual(await found('car -"cars"'), ['blue car', 'big red car']);
  assert.deepEqual(await found('DON’T'), ["don't stop"]);
  assert.deepEqual(await found(`' \\ : & | ! ( ) * <-> green`), ['green']);
  assert.deepEqual(await found('car', { language: 'en-GB' }), ['blue car', 'red big cars', 'big red car']);
  assert.deepEqual(await found('car', { language: 'de' }), []);
});

test('case, forms and scripts are those of the language, whatever the locale of the database', async () => {
  const account = await fixture.account();
  const cases: [string, string, string][] = [
    ['ru', 'Москва, КНИГИ', 'москвы книга'],
    ['tr', 'İSTANBUL kitaplar', 'istanbul kitap'],
    ['el', 'ΟΔΟΣ', 'οδος'],
    ['de', 'Die HÄUSER der Straße', 'haus STRASSE'],
    ['fr', "L'ÉCOLE", 'école'],
    ['fr', 'UN LYCÉE', 'lycees'],
    ['de', 'Von Zürich nach Köln', 'zurich koln'],
    ['de', 'Frau Muller', 'Müller'],
    ['pl', 'Łódź', 'lodz'],
    ['ja', '今日は会議室で話します', '会議室'],
    ['zh', '我们明天开会', '明天 开会'],
    ['th', 'ภาษาไทยง่าย', 'ภาษาไทย'],
    ['ko', '회의는 내일', '내일'],
    ['ko', '사진은 오늘', '사진'],
    ['ko', '예산 발표', '발표에서'],
    ['ko', '집에 AI가 있다', '집 ai'],
  ];

  for (const [language, text, query] of cases) {
    const id = await transcribed(account, [text], language);
    const { data } = await search(account, query);
    assert.deepEqual(idsOf({ data }), [id], `${query} in ${text}`);
    assert.notDeepEqual(data[0].hits, [], query);
  }
});

test('a word in quotes is found with its own accents only', async () => {
  const account = await fixture.account();
  await transcribed(account, ['schön'], 'de');
  const plain = await transcribed(account, ['schon'], 'de');

  assert.deepEqual(idsOf(await search(account, '"schon"')), [plain]);
  assert.equal((await search(account, 'schon')).data.length, 2);
});

test('transcripts that an earlier release indexed are indexed anew, once', async () => {
  const account = await fixture.account();
  const id = await transcribed(account, ['Die Gruppe aus Zürich', 'tagte'], 'de');
  await fixture.db.run({
    text: `
      update transcript_chunks
      set words_version = 1, words = ('''@' || account_id || ''' ''@de'' ''zürich'':4 ''de~tagt'':5')::tsvector
      where shard = $1 and job_id = $2`,
    values: [account.shard, id],
  });
  const before = await search(account, 'zurich');

  const counts = [await reindexChunks(fixture.db), await reindexChunks(fixture.db)];

  assert.deepEqual([before.data, counts], [[], [1, 0]]);
  for (const q of ['zurich', 'Zürich', 'gruppen', '"aus zürich"']) {
    assert.deepEqual(idsOf(await search(account, q, { language: 'de' })), [id], q);
  }
});

test('a word is not found in the forms of another language', async () => {
  const account = await fixture.account();
  await transcribed(account, ['meets'], 'de');
  const english = await transcribed(account, ['meets'], 'en');

  assert.deepEqual(idsOf(await search(account, 'meeting')), [english]);
});

test('a phrase at the end of a long transcript is found, and one over the end of a chunk', async () => {
  const account = await fixture.account();
  const random = randomFrom(812);
  const words = Array.from({ length: 27_000 }, () => `w${random.integer(2_000)}`);
  const texts = Array.from({ length: 1_800 }, (_, index) => words.slice(index * 15, index * 15 + 15).join(' '));
  texts[1_799] = 'the very end of it';
  const id = await transcribed(account, texts);
  const [{ chunks }] = (await fixture.db.rows<{ chunks: number[] }>({
    text: 'select array_agg(first_segment order by number) as chunks from transcript_chunks where job_id = $1',
    values: [id],
  })) as [{ chunks: number[] }];
  assert.ok(chunks.length > 5);

  const last = (await search(account, '"very end of it"')).data[0];
  assert.deepEqual(marked(last), [[1_799, 'very', 'end', 'of', 'it']]);
  for (const start of chunks.slice(1)) {
    const around = `${texts[start - 1]} ${texts[start]}`.split(' ').slice(10, 20);
    const [found] = (await search(account, `"${around.join(' ')}"`)).data;
    assert.deepEqual(marked(found), [
      [start - 1, ...around.slice(0, 5)],
      [start, ...around.slice(5)],
    ]);
  }
});

test('pages show each transcript once, also while transcripts are added', async () => {
  const account = await fixture.account();
  const ids = [];
  for (let index = 0; index < 7; index++) ids.push(await transcribed(account, [`needle ${index}`]));

  const seen: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page = await search(account, 'needle', { limit: 3, ...(cursor && { cursor }) });
    seen.push(...idsOf(page));
    assert.equal(page.has_more, page.next_cursor !== null);
    cursor = page.next_cursor;
    await transcribed(account, ['needle later']);
  }
  const from = (await fixture.job(account, ids[4]!)).created_at;

  assert.deepEqual(seen, ids.toReversed());
  const range = { created_after: from, created_before: (await fixture.job(account, ids[6]!)).created_at };
  assert.deepEqual(idsOf(await search(account, 'needle', range)), [ids[5]]);
});

test('a page of long passages ends after 1 MiB of them, and the next page continues', async () => {
  const account = await fixture.account();
  const ids = [];
  for (let index = 0; index < 5; index++) ids.push(await transcribed(account, [`needle ${'a '.repeat(150_000)}`]));

  const first = await search(account, 'needle', { limit: 100 });
  const second = await search(account, 'needle', { limit: 100, cursor: first.next_cursor });
  const many = await search(account, 'a', { limit: 1 });

  assert.deepEqual([idsOf(first).length, first.has_more, second.has_more], [3, true, false]);
  assert.deepEqual([...idsOf(first), ...idsOf(second)], ids.toReversed());
  assert.equal(many.data[0].hits[0].highlights.length, 100);
});

test('an account finds its own transcripts only', async () => {
  const one = await fixture.account({ shard: 3 });
  const other = await fixture.account({ shard: 3 });
  const mine = await transcribed(one, ['shared words']);
  const theirs = await transcribed(other, ['shared words']);

  assert.deepEqual(idsOf(await search(one, 'shared')), [mine]);
  assert.deepEqual(idsOf(await search(other, 'shared')), [theirs]);
  assert.deepEqual(idsOf(await search(one, `shared or ${other.id}`)), [mine]);
});

test('a query without a word to look for is refused', async () => {
  const account = await fixture.account();
  for (const q of ['...', '-word', 'a or', '" "']) {
    const { error } = await search(account, q);
    assert.deepEqual([error.type, error.param], ['invalid_request', 'q'], q);
  }
  const { error } = await search(account, 'word', { created_after: 'soon' });
  assert.equal(error.param, 'created_after');
  const reversed = await search(account, 'word', { created_after: '2026-01-02', created_before: '2026-01-01' });
  assert.equal(reversed.error.param, 'created_before');
});

/** The tables, and columns of statistics, that hold a text. */
async function placesOf(text: string): Promise<string[]> {
  const tables = await fixture.db.rows<{ name: string }>({
    text: `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
  });
  const found = [];
  for (const { name } of [...tables, { name: 'pg_stats' }]) {
    const [row] = await fixture.db.rows<{ isThere: boolean }>({
      text: `select exists (select from ${name} as r where r::text ilike $1 or r::text ilike $2) as "isThere"`,
      values: [`%${text}%`, `%${Buffer.from(text).toString('hex')}%`],
    });
    if (row!.isThere) found.push(name);
  }
  return found.toSorted();
}

test('an erased job leaves no word behind in any table', async () => {
  const account = await fixture.account();
  const ids = [];
  for (let index = 0; index < 3; index++) {
    ids.push(
      await transcribed(account, ['Xylographers unite'], 'en', {
        metadata: '{"note":"xylographer"}',
        title: 'A xylograph',
        tags: 'xylography',
      }),
    );
  }
  // Statistics of the texts would outlive them.
  await fixture.db.run({ text: 'analyze' });
  assert.deepEqual(await placesOf('xylograph'), ['events', 'job_metadata', 'jobs', 'transcript_chunks']);
  for (const id of ids) await fixture.erase(account, id);

  assert.deepEqual(await placesOf('xylograph'), []);
  assert.deepEqual((await search(account, 'xylographers')).data, []);
});

test('an edited transcript is found by its new words, until its job is erased', async () => {
  const account = await fixture.account();
  const id = await transcribed(account, ['Good morning', 'mister Kenedy']);
  const edit = (text: string | null) => fixture.edit(account, id, [{ index: 1, text }]);
  const found = async (q: string) => (await search(account, q)).data.map(marked);

  assert.equal((await edit('Mister Kennedyx')).status, 200);
  const edited = [await found('kennedyx'), await found('kenedy'), await found('morning')];
  await fixture.db.run({ text: 'analyze' });
  const places = await placesOf('kennedyx');
  await edit(null);

  assert.deepEqual(edited, [[[[1, 'Kennedyx']]], [], [[[0, 'morning']]]]);
  assert.deepEqual(places, ['jobs', 'transcript_chunks']);
  assert.deepEqual([await found('kennedyx'), await found('kenedy')], [[], [[[1, 'Kenedy']]]]);
  await edit('Mister Kennedyx');
  await fixture.erase(account, id);
  assert.deepEqual(await placesOf('kennedyx'), []);
});

test('retention deletes the words with the job', async () => {
  const account = await fixture.account();
  const id = await transcribed(account, ['Quincunx']);
  await fixture.db.run({ text: 'update jobs set audio_key = null where id = $1', values: [id] });
  const now = new Date(Date.now() + 31 * 86_400_000);

  await deleteOldJobs(fixture.db, { shard: account.shard, keepDays: 30, limit: 100, now });

  const left = await fixture.db.rows({ text: 'select 1 from transcript_chunks where job_id = $1', values: [id] });
  assert.deepEqual([left, (await search(account, 'quincunx')).data], [[], []]);
});

test('failed jobs and jobs without speech have no words in the index', async () => {
  const account = await fixture.account();
  await transcribed(account, []);
  const { json } = await fixture.transcribe(account, wavFile(1), { async: 'true' });
  (await engine.nextCall()).fail(new Error('a fault of the test'));
  await fixture.ended(account, json.id);

  const rows = await fixture.db.rows({
    text: 'select 1 from transcript_chunks where account_id = $1',
    values: [account.id],
  });

  assert.deepEqual(rows, []);
});

test('with SEARCH=off nothing is indexed, search says so, and earlier words are removed', async () => {
  const account = await fixture.account();
  await transcribed(account, ['before']);
  await using off = await openJobFixture({ SEARCH: 'off' });
  await off.startWorker(openFakeEngine({ says: 'never indexed' }));
  const silent = await off.account();
  const job = (await off.transcribe(silent, wavFile(1))).json;

  const refused = await off.get(silent, '/v1/search', { query: { q: 'never' } });
  const batches = [];
  for (let shard = 0; shard < SHARD_COUNT; shard++) {
    batches.push(await deleteSomeChunks(fixture.db, { shard, limit: 500 }));
  }

  assert.equal(job.text, 'never indexed');
  assert.deepEqual(await off.db.rows({ text: 'select 1 from transcript_chunks' }), []);
  assert.equal(refused.status, 404);
  assert.match(refused.json.error.message, /SEARCH=off/);
  assert.ok(batches[account.shard]! >= 1);
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from transcript_chunks' }), []);
});
