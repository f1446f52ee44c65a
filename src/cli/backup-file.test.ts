import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import test, { after } from 'node:test';
import { openBackupTarget } from './backup-file.ts';

const home = mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
after(() => rmSync(home, { recursive: true }));
const NOW = new Date('2026-11-28T12:00:00Z');
const MODULE = path.join(import.meta.dirname, 'backup-file.ts');

test('what a killed backup has left is removed by the next one, and not what another one writes', async () => {
  await using living = await writeElsewhere(new Date('2026-11-28T11:00:00Z'));
  const killed = await writeElsewhere(new Date('2026-11-28T10:00:00Z'));
  await killed[Symbol.asyncDispose]();
  const others = ['other.tar.gz.partial', 'verbatim-20261127T120000Z.tar.gz'];
  for (const name of others) writeFileSync(path.join(home, name), '');
  const abandoned = path.join(home, 'verbatim-20261001T000000Z.tar.gz.partial');
  writeFileSync(abandoned, 'of an earlier release');
  utimesSync(abandoned, NOW, new Date('2026-10-01T00:00:00Z'));
  assert.ok(existsSync(killed.partial) && existsSync(living.partial));

  const target = openBackupTarget(home, NOW, new PassThrough());
  await new Promise((resolve) => target.stream.end('content', () => resolve(undefined)));
  target.keep();

  const expected = [...others, path.basename(living.partial), 'verbatim-20261128T120000Z.tar.gz'];
  assert.deepEqual(readdirSync(home).sort(), expected.sort());
});

test('a file that another backup writes is refused; a failed one leaves nothing', async () => {
  const folder = path.join(home, 'own');
  mkdirSync(folder);
  const file = path.join(folder, 'mine.tar.gz');
  const target = openBackupTarget(file, NOW, new PassThrough());

  assert.throws(() => openBackupTarget(file, NOW, new PassThrough()), /Another backup writes .*mine\.tar\.gz now/);
  target.discard();

  assert.deepEqual(readdirSync(folder), []);
});

/** A process that writes a backup into the folder until it is disposed, which kills it. */
async function writeElsewhere(time: Date) {
  const code = `
    import { openBackupTarget } from ${JSON.stringify(MODULE)};
    globalThis.target = openBackupTarget(${JSON.stringify(home)}, new Date(${time.getTime()}), null);
    process.stdout.write('open');
    setInterval(() => undefined, 1_000_000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  await new Promise((resolve) => child.stdout.once('data', resolve));
  const name = `verbatim-${time.toISOString().replace(/[-:]|\.\d+/g, '')}.tar.gz.partial`;
  return {
    partial: path.join(home, name),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('close', resolve));
    },
  };
}
