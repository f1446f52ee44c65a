import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Visitor } from 'oxc-parser';
import {
  isSql,
  isStore,
  literalsOf,
  parse,
  readService,
  readSources,
  type Source,
  tablesWithShard,
  withoutComments,
} from './sources.ts';

// The formatter breaks code at 120; these are for what it leaves alone: strings and templates, and comments.
const MAX_LINE_CHARS = 200;
const MAX_COMMENT_CHARS = 120;
const FOLDERS = ['src', 'sdk/src', 'cli', 'scripts', 'test', 'bench', 'examples', 'console'];
// sdk/src/api.ts is made from the API document.
const sources = readSources(FOLDERS, '.ts', '.tsx', '.sql').filter(({ file }) => file !== 'sdk/src/api.ts');
const tests = sources.filter(({ file }) => file.endsWith('.test.ts'));
const stores = readService().filter(isStore);

const filesOf = (found: Source[]) => found.map(({ file }) => file);

test('every test asserts something', () => {
  const bodies = tests.flatMap((source) => testsIn(source).map((body) => `${source.file}: ${body}`));
  // `until` fails by itself when what it names does not come.
  const idle = bodies.filter((body) => !/\bassert(\b|[A-Z])|\bawait until\(/.test(body));

  assert.ok(bodies.length > 1_500, `only ${bodies.length} tests were found`);
  assert.deepEqual(idle, []);
});

/** The calls of `test` in a file. */
function testsIn(source: Source): string[] {
  const found: string[] = [];
  new Visitor({
    CallExpression({ callee, start, end }) {
      if (callee.type === 'Identifier' && callee.name === 'test') found.push(source.text.slice(start, end));
    },
  }).visit(parse(source).program);
  return found;
}

test('no line is wider than a screen', () => {
  const isWide = (line: string) => [...line].length > MAX_LINE_CHARS;

  assert.deepEqual(filesOf(sources.filter(({ text }) => text.split('\n').some(isWide))), []);
});

test('no line of a comment is wider than the code', () => {
  const isWide = (line: string) => [...line].length > MAX_COMMENT_CHARS && /^\s*(\/\/|\/?\*)/.test(line);

  const all = [...sources, ...readSources(['bin'], '.js', '.ts', 'verbatim')];

  assert.deepEqual(filesOf(all.filter(({ text }) => text.split('\n').some(isWide))), []);
});

test('nothing is left to be done in the code', () => {
  const words = new RegExp(`\\b(${['TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'].join('|')})\\b`);

  assert.deepEqual(filesOf(sources.filter(({ text }) => words.test(text))), []);
});

test('every file is named after its idea', () => {
  const vague = /(^|[/-])(utils?|helpers?|common|misc|managers?|shared|stuff|data)([-.]|$)/;

  assert.deepEqual(filesOf(sources.filter(({ file }) => vague.test(file))), ['src/processes/data-directory.ts']);
});

test('no test sleeps', () => {
  const asleep = /\b(setTimeout|delay|sleep)\((?:[^)]*,\s*)?\d{2,}\)\s*;?\s*(?:\/\/.*)?$/m;

  assert.deepEqual(filesOf(tests.filter(({ text }) => /await /.test(text) && asleep.test(text))), []);
});

/** The statements that are meant for all shards, by file. */
const ACROSS_SHARDS: Record<string, { count: number; why: string }> = {
  'src/accounts/keys/caller-store.ts': { count: 1, why: 'a key does not tell whose it is' },
  'src/accounts/keys/session-store.ts': { count: 1, why: 'a token does not tell whose it is' },
  'src/accounts/people/member-store.ts': { count: 1, why: 'a user may be in accounts of all shards' },
  'src/accounts/people/user-store.ts': { count: 1, why: 'a user may be in accounts of all shards' },
  'src/jobs/fetch/fetch-store.ts': { count: 1, why: 'a process that ended worked for all accounts' },
  'src/jobs/operator-store.ts': { count: 1, why: 'a figure for the operator' },
  'src/jobs/queue/backlog-store.ts': {
    count: 3,
    why: 'a figure for the operator; the bound on waiting jobs and fetches holds for the whole service',
  },
  'src/jobs/queue/lease-store.ts': { count: 1, why: 'a process that ended worked for all accounts' },
  'src/jobs/queue/queue-position-store.ts': { count: 2, why: 'accounts of all shards take turns' },
  'src/jobs/retention/audio-store.ts': { count: 1, why: 'the name of a file does not tell whose it is' },
  'src/jobs/waiting/wait-store.ts': { count: 1, why: 'a figure for the operator' },
  'src/webhooks/endpoints/operator-store.ts': { count: 2, why: 'a list and a figure for the operator' },
  'src/webhooks/ownership/ownership-store.ts': { count: 1, why: 'a deliverer that ended owned many shards' },
};

test('every statement on a table with shards names its shard, but for those that are listed', () => {
  const touches = new RegExp(`\\b(from|join|into|update)\\s+(${tablesWithShard().join('|')})\\b`);
  const statements = stores.flatMap((source) => literalsOf(source).map((text) => ({ file: source.file, text })));
  const hot = statements.filter(({ text }) => isSql(text) && touches.test(text));
  const across = Map.groupBy(
    hot.filter(({ text }) => !/\bshard\b/.test(withoutComments(text))),
    ({ file }) => file,
  );

  assert.ok(hot.length > 100, `only ${hot.length} statements were found`);
  assert.deepEqual(
    [...across].map(([file, found]) => [file, found.length]),
    Object.entries(ACROSS_SHARDS).map(([file, { count }]) => [file, count]),
  );
});

test('statements are written in lower case', () => {
  const isShouting = (text: string) => /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM)\b/.test(text);

  assert.deepEqual(filesOf(stores.filter((source) => literalsOf(source).some(isShouting))), []);
});
