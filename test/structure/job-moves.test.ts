import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { JOB_MOVES } from '../../src/rules/jobs/job-state.ts';
import { isStore, literalsOf, ROOT, readService, type Source, withoutComments } from './sources.ts';

const stores = readService().filter(isStore);

/** Whether a statement moves jobs and names one of the states itself, instead of taking it from `JOB_MOVES`. */
function namesState(statement: string): boolean {
  const [, change] = /\bupdate jobs\b([\s\S]*)/.exec(withoutComments(statement)) ?? [];
  const [, assignments, condition] = /\bset\b([\s\S]*?)\bwhere\b([\s\S]*)/.exec(change ?? '') ?? [];
  if (assignments === undefined || condition === undefined) return false;
  if (/\bstate = '/.test(assignments)) return true;
  const isMove = /\bstate =|\$\{\w*(?:to|\.to)\}/.test(assignments);
  return isMove && !/\$\{\w*(?:from|\.from)\}/.test(condition + statement);
}

test('a statement that moves a job takes both states from the table of moves', () => {
  const found = stores.flatMap((source) =>
    literalsOf(source)
      .filter(namesState)
      .map(() => source.file),
  );

  assert.deepEqual(found, []);
});

test('a state that is written in a statement, before or after the move, is found', () => {
  const moved = `update jobs set \${START.to}, lease = lease + 1 where shard = $1 and \${START.from}`;

  assert.equal(namesState(moved), false);
  assert.equal(namesState(moved.replace(`\${START.to}`, "state = 'processing'")), true);
  assert.equal(namesState(moved.replace(`\${START.from}`, "state = 'queued'")), true);
  assert.equal(namesState('update jobs set state = $2 where shard = $1'), true);
  assert.equal(namesState("update jobs set progress = 0 where shard = $1 and state = 'queued'"), false);
});

const operations = readOperations();

/** The rows of the page that lists the statements on jobs. */
function readOperations(): { name: string; file: string; moves: string[] }[] {
  const page = fs.readFileSync(path.join(ROOT, 'src/jobs/README.md'), 'utf8');
  return [...page.matchAll(/^\| `(\w+)` \| `([\w/.-]+)` \| (.*?) ?\|/gm)].map(([, name, file, moves]) => ({
    name: name!,
    file: `src/jobs/${file}`,
    moves: moves!.split(', ').filter((move) => move !== ''),
  }));
}

test('the page on the life of a job lists each statement that writes jobs, with its moves', () => {
  const functionsOf = ({ text }: Source) =>
    [...text.matchAll(/^export async function (\w+)/gm)].map(([, name]) => name!);
  const writes = ({ text }: Source) => text.match(/\b(?:update|insert into|delete from) jobs\b/g)?.length ?? 0;
  const listed = Map.groupBy(operations, ({ file }) => file);
  const missing = stores.filter((store) => writes(store) > (listed.get(store.file)?.length ?? 0));
  const unknown = operations.filter(({ name, file }) => {
    const store = stores.find((source) => source.file === file);
    return !store || !functionsOf(store).includes(name);
  });

  assert.deepEqual([missing.map(({ file }) => file), unknown], [[], []]);
  const moves = new Set(operations.flatMap((operation) => operation.moves));
  assert.deepEqual([...moves].sort(), [...new Set(JOB_MOVES.map(({ move }) => move))].sort());
});
