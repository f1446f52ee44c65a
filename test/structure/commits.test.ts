import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { ROOT } from './sources.ts';

const LAST = 40;
const MAX_CHARS = 72;

/** What is wrong with the subject of a commit: `area: what changes`. Null: nothing. */
function mistakeIn(subject: string): string | null {
  if ([...subject].length > MAX_CHARS) return `more than ${MAX_CHARS} characters`;
  if (!/^[a-z][a-z0-9, ./-]*: /.test(subject)) return 'no area before a colon';
  if (!/: [a-z0-9"`]/.test(subject)) return 'a capital letter behind the colon';
  return subject.endsWith('.') ? 'a full stop at the end' : null;
}

/** The subjects of the last commits; none where the history is not there, as in an archive. */
function lastSubjects(): string[] {
  try {
    const args = ['log', '--no-merges', `--max-count=${LAST}`, '--format=%s'];
    return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
      .split('\n')
      .filter((subject) => subject !== '');
  } catch {
    return [];
  }
}

test(`the subjects of the last ${LAST} commits have the form that CONTRIBUTING.md asks for`, () => {
  const mistakes = lastSubjects().flatMap((subject) => {
    const mistake = mistakeIn(subject);
    return mistake === null ? [] : [`${subject}: ${mistake}`];
  });

  assert.deepEqual(mistakes, []);
});

test('a subject without an area, with a capital letter or a full stop, or one that is too long is found', () => {
  const subjects = [
    'deliveries: retry attempts that time out while reading the body',
    'retry attempts that time out',
    'deliveries: Retry attempts',
    'deliveries: retry attempts.',
    `deliveries: ${'retry '.repeat(9)}attempts`,
  ];

  assert.deepEqual(
    subjects.map((subject) => mistakeIn(subject) !== null),
    [false, true, true, true, true],
  );
});
