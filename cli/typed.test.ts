import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { runVerbatim } from '../test/fixtures/cli.ts';

const { commandAsTyped } = createRequire(import.meta.url)('../bin/main.js') as {
  commandAsTyped(file: string): string;
};

test('advice and help name the command as it was typed', async () => {
  const env = { VERBATIM_COMMAND: 'bin/verbatim' };

  const refused = await runVerbatim('jobs list', { env });
  const help = await runVerbatim('transcribe --help', { env });

  assert.match(refused.stderr, /run "bin\/verbatim init"/);
  assert.match(help.stdout, /^Usage: bin\/verbatim transcribe /);
  assert.match(help.stdout, /^ {2}bin\/verbatim transcribe call\.mp3/m);
});

test('without bin/verbatim the command is verbatim', async () => {
  assert.match((await runVerbatim('jobs list')).stderr, /run "verbatim init"/);
});

for (const [what, file, expected] of [
  ['a relative path stays', './bin/verbatim', './bin/verbatim'],
  ['a file below this folder is relative', path.resolve('bin/verbatim'), 'bin/verbatim'],
  ['a file elsewhere keeps its path', '/elsewhere/bin/verbatim', '/elsewhere/bin/verbatim'],
  ['a program of PATH is its name', path.join(process.env['PATH']!.split(path.delimiter)[0]!, 'verbatim'), 'verbatim'],
] as const) {
  test(what, (t) => {
    t.after(() => Object.assign(process.env, { npm_command: npmCommand }));
    const npmCommand = process.env['npm_command'] ?? '';
    process.env['npm_command'] = '';

    assert.equal(commandAsTyped(file), expected);
  });
}
