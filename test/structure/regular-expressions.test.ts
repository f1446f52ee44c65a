import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { transformSync } from 'esbuild';
import { readSources } from './sources.ts';

// The folder in which .ci/run installs recheck, which finds expressions that take more than linear time, and a parser.
const { RECHECK } = process.env;
const skip = RECHECK ? false : 'RECHECK IS NOT SET: .ci/run installs the programs';

/** Expressions that are not linear, and the bound of their input. */
const BOUNDED: Record<string, string> = {
  '/\\/+$/': 'URLs in settings and options of the reader himself',
  '/^(?:\\[([0-9a-f:.]*:[0-9a-f:.]*)\\]|([0-9a-f:.]+))\\/(\\d{1,3})(?::(\\d{1,5}))?$/i': 'a setting',
  '/"metadata":(.*?),"data":/s': 'events of the demo',
  "/^[\\p{L}\\p{M}\\p{N} '.-]*[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N} '.-]*$/u": 'a keyword, after its length: 50 characters',
  '/no such (database|user)|database ".*" is disabled|authentication failed|SSL required/i':
    'messages of the database and its pooler',
  '/encoder.*\\.onnx$/': 'names of files of a model',
  '/decoder.*\\.onnx$/': 'names of files of a model',
  '/joiner.*\\.onnx$/': 'names of files of a model',
  '/<!--[\\s\\S]*?-->/g': 'our own pages',
  '/\\[([^\\]]*)\\]\\([^)]*\\)/g': 'our own pages',
  '/[?#].*$/': 'a URL that the user of the client has fetched',
  '/"(?:[^"\\\\]|\\\\.)*"/g': 'texts that were parsed as JSON: each string is closed, so nothing is read twice',
  '/^[\\s"\'\\ufeff]+|[\\s"\'\\ufeff]+$/g': 'a secret of our own, or one that the reader has typed',
  '/^(\\s*)"([a-z_]\\w*)":/gm': "the console's own examples",
  "/^([\\w!#$%&'*+.^`|~-]+):\\s*(.*)$/": 'a line that the reader has typed',
  '/^\\s*(?:export\\s+)?([A-Za-z_][A-Za-z0-9_]*)\\s*=\\s*["\']?(whsec_[^\\s"\']+)["\']?\\s*$/gm':
    'a .env file of the reader himself',
};

type Token = { type: object; value: { pattern: string; flags: string } };
type Acorn = {
  parse(code: string, options: object): unknown;
  tokTypes: { regexp: object };
};
type Recheck = { checkSync(pattern: string, flags: string, options: { timeout: number }): { status: string } };

test('every regular expression takes linear time, or its input has a bound', { skip }, () => {
  const require = createRequire(path.join(RECHECK!, 'package.json'));
  const acorn = require('acorn') as Acorn;
  const { checkSync } = require('recheck') as Recheck;

  const found = findExpressions(acorn);
  const slow = found.filter(({ pattern, flags }) => checkSync(pattern, flags, { timeout: 20_000 }).status !== 'safe');

  assert.ok(found.length > 200);
  assert.deepEqual(slow.map(({ pattern, flags }) => `/${pattern}/${flags}`).sort(), Object.keys(BOUNDED).sort());
});

/** The distinct literals in the code that runs in the service, the clients, the console and the command line. */
function findExpressions({ parse, tokTypes }: Acorn): { pattern: string; flags: string }[] {
  const found = new Map<string, { pattern: string; flags: string }>();
  const onToken = ({ type, value }: Token) => {
    if (type === tokTypes.regexp) found.set(`${value.pattern} ${value.flags}`, value);
  };
  for (const { ending, loader } of [
    { ending: '.ts', loader: 'ts' },
    { ending: '.tsx', loader: 'tsx' },
    { ending: '.js', loader: 'js' },
  ] as const) {
    for (const { text, isTest } of readSources(['src', 'sdk/src', 'console', 'cli', 'bin'], ending)) {
      if (isTest) continue;
      const { code } = transformSync(text, { loader, jsx: 'automatic' });
      parse(code, { ecmaVersion: 'latest', sourceType: 'module', allowHashBang: true, onToken });
    }
  }
  return [...found.values()];
}
