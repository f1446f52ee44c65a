import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test, { after } from 'node:test';
import { describeSystemError } from './system-error.ts';

const MAIN = path.resolve(import.meta.dirname, '../../src/cli/main.ts');
const home = mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
after(() => rmSync(home, { recursive: true }));
writeFileSync(path.join(home, 'file'), '');
mkdirSync(path.join(home, 'data/database'), { recursive: true });

for (const [args, expected] of [
  [['backup', 'verify', 'missing.tar.gz'], /missing\.tar\.gz: there is no such file or folder/],
  [['backup', 'verify', 'data'], /The input is a folder\. Name a file/],
  [['backup', 'missing/x'], /The folder .*missing does not exist\. Make it/],
  [['backup', 'file/x'], /file is no folder\. Name another place/],
  [['restore', 'missing.tar.gz'], /missing\.tar\.gz: there is no such file or folder/],
  [['restore', 'file/x'], /a part of the path is a file/],
  [['restore', 'data'], /The input is a folder\. Name a file/],
  [['transcribe', 'missing.wav'], /missing\.wav/],
  [['live', 'missing.wav'], /missing\.wav/],
  [['watch', 'missing'], /missing/],
  [['verify', 'missing.json'], /./],
] as const) {
  test(`"${args.join(' ')}" ends with one sentence`, async () => {
    const { code, stderr } = await run([...args]);

    assert.notEqual(code, 0);
    assert.match(stderr, expected);
    assert.doesNotMatch(stderr, /^\s+at |node:internal|Error:/m);
  });
}

test('an output that cannot be written ends the command with one sentence', {
  skip: process.platform !== 'linux',
}, async () => {
  for (const args of [['--help'], ['models', 'list'], ['completion', 'bash']]) {
    const full = openSync('/dev/full', 'w');
    const { code, stderr } = await run(args, full);
    closeSync(full);

    assert.equal(code, 1, args.join(' '));
    assert.match(stderr, /^verbatim: The output cannot be written: no space is left\..* \(ENOSPC\)\n$/);
  }
});

test('an error without a code of the system is none', () => {
  assert.equal(describeSystemError(new TypeError('x')), null);
  assert.equal(describeSystemError(Object.assign(new Error('x'), { code: 'ECONNREFUSED' })), null);
  assert.ok(readdirSync(home).length > 0);
});

async function run(args: string[], stdout: number | 'pipe' = 'pipe') {
  const env = {
    PATH: process.env['PATH'],
    DATA_DIR: path.join(home, 'data'),
    XDG_CONFIG_HOME: home,
    VERBATIM_API_KEY: 'vb_x',
  };
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: home, env, stdio: ['ignore', stdout, 'pipe'] });
  let stderr = '';
  child.stderr!.on('data', (chunk) => (stderr += chunk));
  child.stdout?.resume();
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
  return { code, stderr };
}
