import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { machineTimeout } from '../fixtures/machine-time.ts';
import { ROOT } from '../structure/sources.ts';
import { STORE_BUGS, type StoreBug } from './store-bugs.ts';

// A bug may make a test wait for what never happens.
const MOST_MS = 120_000;
const AT_ONCE = 2;

/** Runs the one test that is to find the bug, on the changed source. Its output when it fails, null when it passes. */
async function findWith({ name, test: file, title }: StoreBug): Promise<string | null> {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = [
    `--import=${new URL('plant.ts', import.meta.url)}`,
    `--test-name-pattern=^${title}`,
    '--test-force-exit',
    '--test-reporter=spec',
    path.join(ROOT, file),
  ];
  using limit = machineTimeout(MOST_MS);
  const options = { env: { ...env, PLANTED_BUG: name }, signal: limit.signal };
  try {
    await promisify(execFile)(process.execPath, args, options);
    return null;
  } catch (failure) {
    return limit.signal.aborted ? `✖ ${title}` : (failure as { stdout: string }).stdout;
  }
}

test('each planted bug of a store or a worker is found by a test of its folder', {
  concurrency: AT_ONCE,
}, async (t) => {
  const searches = STORE_BUGS.map((bug) =>
    t.test(bug.name, async () => {
      const output = await findWith(bug);

      assert.ok(output?.includes(`✖ ${bug.title}`), `${bug.test} does not find it: ${output ?? 'its test passes'}`);
    }),
  );
  await Promise.all(searches);
});

/** Whether a test begins with this title. That of a table is a template: then the title is whole. */
function hasTitle(text: string, title: string): boolean {
  const templates = text.matchAll(/test\(\s*`([^`]+)`/g).map(([, template]) => template!.split(/\$\{.*?\}/));
  return text.includes(title) || templates.some((parts) => holdsInOrder(title, parts));
}

function holdsInOrder(title: string, parts: string[]): boolean {
  let at = 0;
  for (const part of parts) {
    const found = title.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return title.startsWith(parts[0]!);
}

test('the source that each planted bug changes is there once, and its test too', () => {
  const read = (file: string) => readFileSync(path.join(ROOT, file), 'utf8');
  const stale = STORE_BUGS.filter(
    ({ file, original, test: testFile, title }) =>
      read(file).split(original).length !== 2 || !hasTitle(read(testFile), title),
  );

  assert.deepEqual(
    stale.map(({ name }) => name),
    [],
  );
});
