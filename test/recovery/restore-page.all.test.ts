import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { promisify } from 'node:util';
import { freePort } from '../../src/demo/service.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openService, serviceProgram, temporaryFolder } from '../fixtures/service.ts';

const run = promisify(execFile);
const skip = spawnSync('curl', ['--version']).status === 0 ? false : 'curl is missing. Type: apt-get install curl';
const page = readFileSync(path.join(ROOT, 'docs/restore.md'), 'utf8');

test('the nine commands of the page bring a service back from its last backup', { skip }, async () => {
  const root = temporaryFolder();
  const port = await freePort();
  const dataDir = path.join(root, 'var/lib/verbatim');
  const backups = path.join(root, 'var/backups/verbatim');
  for (const folder of [dataDir, backups, path.join(root, 'root'), path.join(root, 'opt/verbatim/bin')])
    mkdirSync(folder, { recursive: true });
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  const env = { PATH: `${path.join(root, 'bin')}:${process.env['PATH']}`, ENGINE_LITE: engine, ENGINE_PRO: engine };
  const service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine }, dataDir);
  const { key } = await service.account();
  const form = new FormData();
  form.append('file', new Blob([new Uint8Array(toneWav('kept'))]), 'tone.wav');
  const sent = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  assert.equal(sent.status, 200);
  writeStandIns(root, { port, pid: service.pid });
  await run(path.join(root, 'opt/verbatim/bin/verbatim'), ['backup', backups], { env: { ...env, DATA_DIR: dataDir } });
  writeFileSync(path.join(root, 'root/verbatim-secrets-key'), readFileSync(path.join(dataDir, 'secrets-key')));

  const commands = /```sh\n([\s\S]*?)```/.exec(page)![1]!.trim();
  assert.equal(commands.split('\n').length, 9);
  const script = commands
    .replaceAll(/\/(var|opt|root)\//g, `${root}/$1/`)
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${port}`);
  try {
    const { stdout } = await run('bash', ['-euo', 'pipefail', '-c', script], { env });
    assert.match(stdout, /is whole/);
    assert.match(stdout, /"status":"ready"/);
    const jobs = await fetch(`http://127.0.0.1:${port}/v1/jobs`, { headers: { 'x-api-key': key } });
    assert.equal(((await jobs.json()) as { data: { text: string }[] }).data[0]!.text, 'kept');
    assert.equal(readdirSync(path.join(root, 'var/lib')).length, 2, 'the old data is kept');
  } finally {
    await run(path.join(root, 'bin/systemctl'), ['stop', 'verbatim'], { env });
    await service[Symbol.asyncDispose]();
  }
});

/** Programs of the machine that a test cannot have: systemd, other users, and the installation in /opt. */
function writeStandIns(root: string, { port, pid }: { port: number; pid: number }): void {
  const bin = path.join(root, 'bin');
  const dataDir = path.join(root, 'var/lib/verbatim');
  mkdirSync(bin);
  writeFileSync(path.join(root, 'pid'), String(pid));
  const programs: Record<string, string> = {
    [path.join(bin, 'systemctl')]: `
      if [ "$1" = start ]; then
        DATA_DIR=${dataDir} HOST=127.0.0.1 PORT=${port} setsid ${process.execPath} ${serviceProgram()} >${root}/log 2>&1 </dev/null &
        echo $! >${root}/pid
      else
        kill -TERM $(cat ${root}/pid) 2>/dev/null || true
        while kill -0 $(cat ${root}/pid) 2>/dev/null; do sleep 0.1; done
      fi`,
    [path.join(bin, 'runuser')]: 'shift 3; exec "$@"',
    [path.join(bin, 'install')]: `
      args=$(printf '%s\\n' "$@" | sed '/^-[og]$/,+1d')
      exec /usr/bin/install $args`,
    [path.join(root, 'opt/verbatim/bin/verbatim')]:
      `exec ${process.execPath} ${path.join(ROOT, 'src/cli/main.ts')} "$@"`,
  };
  for (const [file, text] of Object.entries(programs)) {
    writeFileSync(file, `#!/bin/sh\n${text.trim()}\n`);
    chmodSync(file, 0o755);
  }
}
