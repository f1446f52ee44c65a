import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findRetiredWords, retiredWordsIn } from './retired-words.ts';
import { importsOf, isSql, literalsOf, namesShard, readSources, testsIn } from './sources.ts';

const MAX_LINES = 400;
// The first migration is the whole schema.
const MAX_MIGRATION_LINES = 700;
// A test's tables of cases are one idea, however many rows it takes.
const MAX_TEST_LINES = 700;
// The formatter breaks code at 120; this is for what it leaves alone: comments, strings, templates.
const MAX_LINE_CHARS = 200;
const HOT_TABLES =
  'accounts|api_keys|ledger|rate_windows|jobs|job_queues|audio_fetches|job_pieces|job_usage|job_metadata|transcript_chunks|webhooks|events|deliveries|attempts|idempotency_keys';

// Made from the API document; nobody edits it.
const GENERATED = 'sdk/src/api.ts';
const sources = [
  ...readSources(['src', 'sdk/src', 'cli', 'scripts', 'test', 'bench', 'examples', 'console'], '.ts'),
  ...readSources(['console'], '.tsx'),
].filter(({ file }) => file !== GENERATED);
const migrations = readSources(['src/db/migrations'], '.sql');

test('there is something to look at', () => {
  assert.ok(sources.length > 50 && migrations.length > 0);
});

test('whatever a source imports is looked at too', () => {
  const known = new Set([...sources.map(({ file }) => file), GENERATED]);
  const imported = sources.flatMap((source) => importsOf(source).map(({ from }) => from));

  assert.deepEqual(
    [...new Set(imported)].filter((from) => /^(src|sdk|cli|test)\/.*\.ts$/.test(from) && !known.has(from)),
    [],
  );
});

test('every test asserts something', () => {
  const tests = sources
    .filter(({ file }) => file.endsWith('.test.ts'))
    .flatMap((source) => testsIn(source).map((found) => ({ file: source.file, ...found })));

  assert.ok(tests.length > 500, `only ${tests.length} tests were found`);
  assert.deepEqual(
    // `until` fails by itself when what it names does not come.
    tests
      .filter(({ body }) => !/\bassert(\b|[A-Z])|\bawait until\(/.test(body))
      .map(({ file, title }) => `${file}: ${title}`),
    [],
  );
});

test('no file is longer than one idea', () => {
  const lines = ({ text }: { text: string }) => text.split('\n').length - 1;
  const long = [
    ...sources.filter((source) => lines(source) > (source.isTest ? MAX_TEST_LINES : MAX_LINES)),
    ...migrations.filter((source) => lines(source) > MAX_MIGRATION_LINES),
  ];

  assert.deepEqual(
    long.map((source) => `${source.file}: ${lines(source)} lines`),
    [],
  );
});

test('no line is wider than a screen', () => {
  const wide = [...sources, ...migrations].flatMap(({ file, text }) =>
    text.split('\n').flatMap((line, index) => ([...line].length > MAX_LINE_CHARS ? [`${file}:${index + 1}`] : [])),
  );

  assert.deepEqual(wide, []);
});

test('nothing is left to be done in the code', () => {
  const words = new RegExp(
    ['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].map((word) => `\\b${word}\\b`).join('|'),
  );

  assert.deepEqual(
    [...sources, ...migrations].filter(({ text }) => words.test(text)).map(({ file }) => file),
    [],
  );
});

test('every file is named after its idea', () => {
  const vague = /(^|[/-])(utils?|helpers?|common|misc|managers?|shared|stuff|data)([-.]|$)/;
  const names = sources.map(({ file }) => file.replace(/^src\/processes\/data-directory\.ts$/, ''));

  assert.deepEqual(
    names.filter((file) => vague.test(file)),
    [],
  );
  assert.deepEqual(
    names.filter((file) => /[A-Z_]/.test(file)),
    [],
  );
});

test('no retired word is used', () => {
  assert.deepEqual(findRetiredWords(), []);
});

test('a retired word is found in names, comments and pages, and an ordinary use of it is not', () => {
  const wordsIn = (file: string, text: string) => retiredWordsIn({ file, text, isTest: false }).length;

  assert.equal(wordsIn('src/a.ts', 'const openGlancer = 1;'), 1);
  assert.equal(wordsIn('docs/a.md', 'The program runs in a jail.'), 1);
  assert.equal(wordsIn('src/turnstile.ts', ''), 1);
  assert.equal(wordsIn('src/jobs/a.ts', 'type Told = string;'), 1);
  assert.equal(wordsIn('src/jobs/a.ts', "await once(child, 'told'); // is told once"), 0);
  assert.equal(wordsIn('test/a.ts', "says('hello world');"), 0);
});

test('no test sleeps', () => {
  const asleep = /\b(setTimeout|delay|sleep)\((?:[^)]*,\s*)?\d{2,}\)\s*;?\s*(?:\/\/.*)?$/m;
  const awaited = sources.filter(
    ({ file, text }) => file.endsWith('.test.ts') && /await /.test(text) && asleep.test(text),
  );

  assert.deepEqual(
    awaited.map(({ file }) => file),
    [],
  );
});

// The statements that are meant for all shards, by file.
const ACROSS_SHARDS = [
  // A key does not tell whose it is.
  'src/accounts/keys/caller-store.ts',
  // A process that ended worked for all accounts.
  'src/jobs/fetch/fetch-store.ts',
  // A figure for the operator.
  'src/jobs/operator-store.ts',
  // A figure for the operator.
  'src/jobs/queue/backlog-store.ts',
  // The bound on waiting jobs and fetches holds for the whole service.
  'src/jobs/queue/backlog-store.ts',
  'src/jobs/queue/backlog-store.ts',
  // A process that ended worked for all accounts.
  'src/jobs/queue/lease-store.ts',
  // Accounts of all shards take turns.
  'src/jobs/queue/queue-position-store.ts',
  'src/jobs/queue/queue-position-store.ts',
  // The name of a file does not tell whose it is.
  'src/jobs/retention/audio-store.ts',
  // A list and a figure for the operator.
  'src/webhooks/endpoints/operator-store.ts',
  'src/webhooks/endpoints/operator-store.ts',
];

test('every statement on a hot table names its shard, but for those that are listed', () => {
  const touches = new RegExp(`\\b(from|join|into|update)\\s+(${HOT_TABLES})\\b`);
  const stores = sources.filter(({ file, isTest }) => /(^|[/-])store\.ts$/.test(file) && !isTest);
  const statements = stores.flatMap((source) => literalsOf(source).map((text) => ({ file: source.file, text })));
  const hot = statements.filter(({ text }) => isSql(text) && touches.test(text));

  assert.ok(hot.length >= 10, `only ${hot.length} statements were found: the test lost its bite`);
  assert.deepEqual(
    hot.filter(({ text }) => !namesShard(text)).map(({ file }) => file),
    ACROSS_SHARDS,
  );
});

test('a comment in a statement does not stand for its shard', () => {
  assert.equal(namesShard('-- every shard\nselect 1 from jobs'), false);
  assert.equal(namesShard('select 1 /* shard */ from jobs'), false);
  assert.equal(namesShard('-- of one\nselect 1 from jobs where shard = $1'), true);
});

test('statements are written in lower case, with values as parameters', () => {
  const stores = sources.filter(({ file, isTest }) => /(^|[/-])store\.ts$/.test(file) && !isTest);
  const shouting = stores.filter((source) =>
    literalsOf(source).some((text) => /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/.test(text)),
  );

  assert.deepEqual(
    shouting.map(({ file }) => file),
    [],
  );
});
