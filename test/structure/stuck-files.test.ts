import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { temporaryFolder } from '../fixtures/service.ts';
import { killStuckFiles } from '../stuck-files.ts';

const REPORTER = path.join(import.meta.dirname, '../reporter.ts');

const HANGING: [what: string, body: string, report: RegExp][] = [
  ['in a loop', 'for (;;);', /✖ .*hanging\.test\.ts/],
  [
    'while it waits',
    'return new Promise(() => setInterval(() => {}, 1_000))',
    /hanging\.test\.ts ended during: it hangs/,
  ],
];
for (const [what, body, report] of HANGING) {
  test(`a file that hangs ${what} and handles SIGTERM ends the run, and is named`, async () => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'hanging.test.ts');
    const code = `import test from 'node:test'; process.on('SIGTERM', () => {}); test('it hangs', () => { ${body} });`;
    writeFileSync(file, code);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--test', `--test-reporter=${REPORTER}`, file];
    const runner = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
    using _watch = killStuckFiles(runner.pid!, 1_000);

    const [output, [exitCode]] = await Promise.all([text(runner.stdout), once(runner, 'exit')]);

    assert.equal(exitCode, 1);
    assert.match(output, report);
    rmSync(folder, { recursive: true });
  });
}
