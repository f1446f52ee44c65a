import assert from 'node:assert/strict';
import { createReadStream, createWriteStream, existsSync, mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import test, { after, before } from 'node:test';
import { openEmptyDatabase, openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { readArchive } from './archive-reader.ts';
import { ArchiveWriter } from './archive-writer.ts';
import { BackupError, type Header, type Manifest, NAMES, readHeader, readManifest } from './contents.ts';
import { createBackup } from './create-backup.ts';
import { restoreBackup } from './restore-backup.ts';

// biome-ignore lint/suspicious/noExplicitAny: headers of every shape
type Json = any;

const SENTENCE = /^The .*[.)]$/s;
const home = mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
let files: { name: string; content: Buffer }[];
let header: Header;

before(async () => {
  await using db = await openTestDatabase();
  const target = path.join(home, 'backup.tar.gz');
  await createBackup(createWriteStream(target), {
    url: db.url,
    audioDir: home,
    secretsKey: null,
    onProgress: () => undefined,
  });
  files = [];
  await readArchive(createReadStream(target), {
    begin: async (found) => {
      header = found;
    },
    async file({ name, content }) {
      files.push({ name, content: Buffer.concat(await Array.fromAsync(content)) });
    },
  });
});

after(() => rmSync(home, { recursive: true }));

const DAY = {
  name: 'attempts_20260101',
  parent: 'attempts',
  bound: "FOR VALUES FROM ('2026-01-01') TO ('2026-01-02')",
};
const CHANGES: [string, (header: Json) => void][] = [
  [
    'SQL as the bound of a partition that is no day',
    (h) => h.partitions.push({ ...DAY, name: 'attempts_x', bound: SQL }),
  ],
  ['SQL as the name of a partition', (h) => h.partitions.push({ ...DAY, name: SQL })],
  ['a day that does not exist', (h) => h.partitions.push({ ...DAY, name: 'attempts_20261399' })],
  ['a partition of another table', (h) => h.partitions.push({ ...DAY, parent: 'jobs' })],
  ['SQL as a table', (h) => h.tables.push({ name: SQL, columns: ['id'] })],
  ['SQL as a column', (h) => h.tables[0].columns.push(SQL)],
  ["PostgreSQL's own table", (h) => h.tables.push({ name: 'pg_authid', columns: ['rolname'] })],
  ['the table of the migrations', (h) => h.tables.push({ name: 'schema_versions', columns: ['version'] })],
  ['a column twice', (h) => h.tables[0].columns.push(h.tables[0].columns[0])],
  ['another text of a migration', (h) => (h.migrations[0].sha256 = '0'.repeat(64))],
  ['a release of another form', (h) => (h.release = '\u001b[2J')],
  ['a later format', (h) => (h.format = 2)],
  ['no tables', (h) => delete h.tables],
  ['null', (h) => Object.assign(h, { tables: null })],
];
const SQL = `for values from ('2026-01-01') to ('2026-01-02'); create table planted (); --`;

for (const [title, change] of CHANGES) {
  test(`a header with ${title} is refused in a sentence, and runs nothing`, async () => {
    await using db = await openEmptyDatabase();
    const changed = structuredClone(header);
    change(changed);

    await assert.rejects(restore(db.url, await archive(changed)), (error: Error) => {
      assert.ok(error instanceof BackupError, error.stack);
      assert.match(error.message, SENTENCE);
      return true;
    });
    const tables = await db.rows({
      text: `select relname as name from pg_class where relname in ('planted', 'accounts')`,
    });
    assert.deepEqual(tables, []);
  });
}

test('the bound of a day is made of its name: SQL in its place is not run', async () => {
  await using db = await openEmptyDatabase();

  await restore(db.url, await archive({ ...header, partitions: [{ ...DAY, bound: SQL }] }));

  const [found] = await db.rows({
    text: `select pg_get_expr(relpartbound, oid) as bound, to_regclass('planted') as planted from pg_class where relname = $1`,
    values: [DAY.name],
  });
  assert.match((found as { bound: string }).bound, /2026-01-01 .* TO \('2026-01-02 /);
  assert.equal((found as { planted: unknown }).planted, null);
});

for (const [name, content, audioDir] of [
  ['rows/pg_authid/000000', 'x', home],
  ['rows/accounts/000000', 'not a row', home],
  ['audio/../outside', 'x', home],
  ['audio/a', 'x', null],
  ['secrets-key', 'x'.repeat(5_000), home],
  ['secrets-key', 'no key', home],
] as const) {
  test(`a file ${name} with "${content.slice(0, 9)}" is refused in a sentence`, async () => {
    await using db = await openEmptyDatabase();
    const dir = audioDir && path.join(mkdtempSync(path.join(home, 'to-')), 'audio');

    const restored = restore(
      db.url,
      await archive({ ...header, audio: 'none' }, [{ name, content: Buffer.from(content) }]),
      dir,
    );

    await assert.rejects(restored, (error: Error) => {
      assert.ok(error instanceof BackupError, error.stack);
      return true;
    });
    assert.ok(!existsSync(path.join(home, 'outside')));
  });
}

test('any change of a header or a manifest is refused in a sentence, or leaves one of the right form', () => {
  const random = randomFrom(20_261_128);
  const pick = <Item>(items: readonly Item[]): Item => random.pick(items);
  const odd: unknown[] = [
    null,
    true,
    -1,
    0,
    1.5,
    1e308,
    '',
    'x',
    '"',
    "'; --",
    '\u0000',
    '../..',
    [],
    {},
    [[]],
    { toString: 1 },
    '__proto__',
  ];
  const manifest: Manifest = {
    rows: { jobs: 1 },
    missing_audio: ['a'],
    listed_audio: [],
    files: [{ name: 'a', bytes: 1, sha256: '0'.repeat(64) }],
  };
  const counts = { refused: 0, right: 0 };
  for (let round = 0; round < 4_000; round++) {
    const [read, valid] = pick([
      [readHeader, header],
      [readManifest, manifest],
    ] as [(text: string) => unknown, Json][]);
    const changed = mutate(structuredClone(valid), pick, odd);
    let text = JSON.stringify(changed) ?? '';
    if (random.next() < 0.2) text = text.slice(0, random.integer(text.length)) + pick(['', '}', '\u0000', '"']);
    try {
      read(text);
      counts.right++;
    } catch (error) {
      assert.ok(error instanceof BackupError, `${text}: ${(error as Error).stack}`);
      assert.match(error.message, SENTENCE);
      counts.refused++;
    }
  }
  assert.ok(counts.refused > 1_000 && counts.right > 10, JSON.stringify(counts));
});

/** Puts another value in one place, or removes it. */
function mutate(valid: Json, pick: <Item>(items: readonly Item[]) => Item, odd: readonly unknown[]): Json {
  let place = valid;
  for (;;) {
    const name = pick(Object.keys(place));
    const inner = place[name];
    if (inner !== null && typeof inner === 'object' && Object.keys(inner).length > 0 && pick([true, true, false])) {
      place = inner;
      continue;
    }
    const other = pick([...odd, undefined]);
    if (other === undefined && !Array.isArray(place)) delete place[name];
    else place[name] = other;
    return pick([valid, valid, valid, other]);
  }
}

async function archive(changed: unknown, more: typeof files = []): Promise<Readable> {
  const target = new PassThrough();
  const chunks = Array.fromAsync(target as AsyncIterable<Buffer>);
  const writer = new ArchiveWriter(target);
  await writer.add(NAMES.header, Buffer.from(JSON.stringify(changed)));
  for (const { name, content } of [...files, ...more]) await writer.add(name, content);
  const manifest = { rows: {}, missing_audio: [], listed_audio: [], files: [...writer.files] };
  await writer.add(NAMES.manifest, Buffer.from(JSON.stringify(manifest)));
  await writer.finish();
  return Readable.from(await chunks);
}

async function restore(url: string, source: Readable, audioDir: string | null = path.join(home, 'audio')) {
  const keyFile = path.join(home, 'secrets-key');
  return await restoreBackup(source, {
    openDatabase: async () => url,
    folder: null,
    audioDir,
    keyFile,
    onProgress: () => undefined,
  });
}
