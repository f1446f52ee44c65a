import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { runVerbatim } from '../test/fixtures/cli.ts';
import { temporaryFolder } from '../test/fixtures/service.ts';

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));
fs.symlinkSync(path.join(import.meta.dirname, '../bin/verbatim'), path.join(folder, 'verbatim'));
const env = {
  ...process.env,
  HOME: folder,
  PATH: `${folder}:${path.dirname(process.execPath)}:${process.env['PATH']}`,
};

const complete = async (form: string, ...words: string[]) =>
  (await runVerbatim(['__complete', form, ...words])).stdout.split('\n').slice(0, -1);

for (const [words, expected] of [
  [['tr'], ['transcribe', 'trigger']],
  [['jobs', 'ca'], ['cancel']],
  [['jobs', 'list', '--sta'], ['--status']],
  [
    ['jobs', 'list', '--status', 'c'],
    ['completed', 'canceled'],
  ],
  [
    ['--profile', 'jobs', 'w'],
    ['watch', 'webhooks', 'whoami'],
  ],
  [
    ['jobs', '--color', ''],
    ['auto', 'always', 'never'],
  ],
  [
    ['completion', ''],
    ['bash', 'zsh', 'fish', 'powershell'],
  ],
  [['transcribe', 'a'], []],
  [['nothing', 'like', 'this'], []],
] as const) {
  test(`after "verbatim ${words.join(' ')}" comes ${expected.join(', ') || 'a file'}`, async () => {
    assert.deepEqual((await complete('plain', ...words)).sort(), [...expected].sort());
  });
}

test('candidates have descriptions in the forms of zsh and fish', async () => {
  assert.deepEqual(await complete('zsh', 'jobs', 'fo'), [
    'follow:the segments of a job as they are transcribed, until it ends',
  ]);
  assert.deepEqual(await complete('fish', 'jobs', 'fo'), [
    'follow\tthe segments of a job as they are transcribed, until it ends',
  ]);
});

/** Each shell, loaded with its script, prints what it completes for `verbatim jobs list --status c`. */
const SHELLS = {
  bash: {
    args: ['--norc', '-c'],
    script: `eval "$(verbatim completion bash)"
COMP_WORDS=(verbatim jobs list --status c); COMP_CWORD=4; _verbatim; printf '%s\\n' "\${COMPREPLY[@]}"
complete -p verbatim`,
    output: /^completed\ncanceled\ncomplete -o default -F _verbatim verbatim\n$/,
  },
  zsh: {
    args: ['-f', '-c'],
    script: `autoload -Uz compinit; compinit -D -u
source <(verbatim completion zsh)
_describe() { print -l -- \${(P)2} }
words=(verbatim jobs list --status c); CURRENT=5; _verbatim; print $_comps[verbatim]`,
    output: /^completed:\ncanceled:\n_verbatim\n$/,
  },
  fish: {
    args: ['--no-config', '-c'],
    script: `verbatim completion fish | source; complete -C 'verbatim jobs list --status c'`,
    output: /^completed\ncanceled\n$|^canceled\ncompleted\n$/,
  },
};

for (const [shell, { args, script, output }] of Object.entries(SHELLS)) {
  const isThere = spawnSync(shell, ['--version']).error === undefined;
  if (!isThere) process.stderr.write(`SKIPPED: ${shell} is not installed, so its completion script is not tested.\n`);

  test(`${shell} completes with its script`, { skip: !isThere }, () => {
    const text = execFileSync(shell, [...args, script], { env, encoding: 'utf8' });

    assert.match(text, output);
  });
}
