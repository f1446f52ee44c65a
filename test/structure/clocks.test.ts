import assert from 'node:assert/strict';
import { test } from 'node:test';
import { codeOf, readSources, type Source } from './sources.ts';

// A machine that has other work is slow. So a test waits for states (`until`), counts by the clock of `machineTime` or
// `processorTime`, and gives what it tests its clock or its times. This list of other places may only become shorter.

/** What makes a test depend on the speed of the machine. */
const CLOCKS: Record<string, RegExp> = {
  'a time limit of a test': /\btest\((?:[^{};]|\{[^{}]*\})*?\{[^{}]*\btimeout: /g,
  'a signal that aborts after a time': /\bAbortSignal\.timeout\(/g,
  'a program that is ended after a time': /\bexecFile\)?\([^;]*\btimeout: /g,
  'a sleep': /\bawait (?:new Promise\([^;]*\bsetTimeout\(|(?:delay|pause|sleep|setTimeout|systemClock\.sleep)\()/g,
  'an upper bound on the time of the wall':
    /\((?:performance|Date)\.now\(\) - \w+ <|const (\w+) = (?:performance|Date)\.now\(\) - \w+;[\s\S]*?\b\1 <=? /g,
};

const LISTED: Record<string, Record<string, number>> = {
  'a sleep': {
    // A reader that is slow.
    'src/audio/fetch/fetch.test.ts': 1,
    // Waits that the fetcher asks its clock for.
    'src/jobs/fetch/fetcher.test.ts': 1,
    // Programs that go on until they are killed.
    'test/fixtures/processes/greedy-child.ts': 1,
    'test/fixtures/processes/misbehaving-child.ts': 1,
    // Between two polls.
    'test/fixtures/until.ts': 1,
    // A database that is stopped for 8 s, and the 15 s in which another node would take its jobs.
    'test/recovery/crashes.all.test.ts': 2,
    // What fills the disk again.
    'test/recovery/disk-full-service.ts': 1,
    // Clients that pause at random.
    'test/recovery/ledger-storm-worker.ts': 1,
    'test/recovery/ledger-storm.ts': 4,
    'test/security/odd-requests.all.test.ts': 1,
  },
};

test('no test sleeps or is bounded by the clock on the wall, but for those that are listed', () => {
  // Programs that run for as long as they are told are no tests.
  const isProgram = ({ file }: Source) =>
    /^test\/(prove|faults|simulation|console|upgrade)\/(?!.*\.test\.ts$)/.test(file);
  const tests = readSources(['src', 'sdk/src', 'cli', 'console', 'test', 'bench'], '.ts').filter(
    (source) => source.isTest && !isProgram(source) && !source.file.endsWith('structure/clocks.test.ts'),
  );
  const found: Record<string, Record<string, number>> = {};
  for (const source of tests) {
    const code = codeOf(source);
    for (const [what, pattern] of Object.entries(CLOCKS)) {
      const { length } = code.match(pattern) ?? [];
      if (length) (found[what] ??= {})[source.file] = length;
    }
  }

  assert.ok(tests.length > 500, `only ${tests.length} files of tests were read`);
  assert.deepEqual(found, LISTED);
});
