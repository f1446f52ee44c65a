import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import test from 'node:test';
import { temporaryFolder } from '../fixtures/service.ts';
import { killStuckFiles } from '../stuck-files.ts';

test('a file that hangs in a loop and handles SIGTERM ends the run, with its name', async () => {
  const folder = temporaryFolder();
  const file = path.join(folder, 'loop.test.ts');
  const loop = `test('a loop', () => { for (;;); });`;
  writeFileSync(file, `import test from 'node:test'; process.on('SIGTERM', () => {}); ${loop}`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const args = ['--test', '--test-reporter=spec', '--test-timeout=500', file];
  const runner = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  using _watch = killStuckFiles(runner.pid!, 1_000);

  const [output, [code]] = await Promise.all([text(runner.stdout), once(runner, 'exit')]);

  assert.equal(code, 1);
  assert.match(output, /✖ .*loop\.test\.ts/);
  rmSync(folder, { recursive: true });
});
