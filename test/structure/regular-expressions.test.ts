import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { test } from 'node:test';
import { Visitor } from 'oxc-parser';
import { parse, readSources } from './sources.ts';

// The folder in which .ci/run installs recheck, which finds expressions that take more than linear time.
const { RECHECK } = process.env;
const skip = RECHECK ? false : 'RECHECK IS NOT SET: .ci/run installs the programs';

/** Expressions that are not linear, and the bound of their input. */
const BOUNDED: Record<string, string> = {
  '/\\/+$/': 'URLs in settings and options of the reader himself',
  '/^(?:\\[([0-9a-f:.]*:[0-9a-f:.]*)\\]|([0-9a-f:.]+))\\/(\\d{1,3})(?::(\\d{1,5}))?$/i': 'a setting',
  '/"metadata":(.*?),"data":/s': 'events of the demo',
  "/^[\\p{L}\\p{M}\\p{N} '.-]*[\\p{L}\\p{N}][\\p{L}\\p{M}\\p{N} '.-]*$/u": 'a keyword, after its length: 50 characters',
  '/no such (database|user)|database ".*" is disabled|authentication failed/i':
    'messages of the database and its pooler',
  "/[\\p{L}\\p{M}\\p{N}.'’-]+$/u": 'the last 64 characters of a text',
  "/^['’.-]+|[….]+$/gu": 'a word among them',
  '/[^\\p{L}\\p{M}\\p{N}]*$/u': 'the last 64 characters of a part of a text',
  '/encoder.*\\.onnx$/': 'names of files of a model',
  '/decoder.*\\.onnx$/': 'names of files of a model',
  '/joiner.*\\.onnx$/': 'names of files of a model',
  '/<!--[\\s\\S]*?-->/g': 'our own pages',
  '/\\[([^\\]]*)\\]\\([^)]*\\)/g': 'our own pages',
  '/\\/react-(aria|aria-components|stately)\\/.*\\/intl\\/.*\\/?[a-z]{2}-[A-Z]{2}\\.mjs$/':
    'files of the packages of the console, when it is bundled',
  '/[?#].*$/': 'a URL that the user of the client has fetched',
  '/"(?:[^"\\\\]|\\\\.)*"/g': 'texts that were parsed as JSON: each string is closed, so nothing is read twice',
  '/^[\\s"\'\\ufeff]+|[\\s"\'\\ufeff]+$/g': 'a secret of our own, or one that the reader has typed',
  '/^(\\s*)"([a-z_]\\w*)":/gm': "the console's own examples",
  "/^([\\w!#$%&'*+.^`|~-]+):\\s*(.*)$/": 'a line that the reader has typed',
  '/^\\s*(?:export\\s+)?([A-Za-z_][A-Za-z0-9_]*)\\s*=\\s*["\']?(whsec_[^\\s"\']+)["\']?\\s*$/gm':
    'a .env file of the reader himself',
};

const TIMEOUT_MS = 20_000;
// What is no longer slow is found sooner; three of these take half of the time of all others.
const KNOWN_MS = 1_000;

type Expression = { pattern: string; flags: string };
type Recheck = { checkSync(pattern: string, flags: string, options: { timeout: number }): { status: string } };

test('every regular expression takes linear time, or its input has a bound', { skip }, () => {
  const { checkSync } = createRequire(path.join(RECHECK!, 'package.json'))('recheck') as Recheck;

  const found = findExpressions();
  const slow = found.filter((expression) => {
    const timeout = literalOf(expression) in BOUNDED ? KNOWN_MS : TIMEOUT_MS;
    return checkSync(expression.pattern, expression.flags, { timeout }).status !== 'safe';
  });

  assert.ok(found.length > 200);
  assert.deepEqual(slow.map(literalOf).sort(), Object.keys(BOUNDED).sort());
});

const literalOf = ({ pattern, flags }: Expression) => `/${pattern}/${flags}`;

/** The distinct literals in the code that runs in the service, the clients, the console and the command line. */
function findExpressions(): Expression[] {
  const found = new Map<string, Expression>();
  const visitor = new Visitor({
    Literal(literal) {
      if ('regex' in literal) found.set(`${literal.regex.pattern} ${literal.regex.flags}`, literal.regex);
    },
  });
  const sources = readSources(['src', 'sdk/src', 'console', 'cli', 'bin'], '.ts', '.tsx', '.js');
  for (const source of sources) if (!source.isTest) visitor.visit(parse(source).program);
  return [...found.values()];
}
