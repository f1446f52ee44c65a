import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serviceProgram } from '../../test/fixtures/service.ts';
import { openWritableFolder } from './writable-folder.ts';

const needsRoot = whyNotAsOther();
const OTHER_USER = 10_001;

function whyNotAsOther(): string | false {
  if (process.getuid?.() !== 0) return 'only root can act as another user';
  return (statSync('/').mode & 0o001) === 0 && 'other users cannot enter the root folder here';
}

/** In a folder that other users can enter; the tests' own temporary folder is closed to them. */
function openTemporary() {
  const folder = mkdtempSync('/tmp/verbatim-test-');
  chmodSync(folder, 0o755);
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function asOtherUser(act: () => void): void {
  process.setegid!(OTHER_USER);
  process.seteuid!(OTHER_USER);
  try {
    act();
  } finally {
    process.seteuid!(0);
    process.setegid!(0);
  }
}

function modeOf(folder: string): string {
  return (statSync(folder).mode & 0o7777).toString(8);
}

test('a folder is created for this user alone, and the write test leaves nothing in it', () => {
  using temporary = openTemporary();
  const folder = path.join(temporary.folder, 'some', 'data');

  openWritableFolder(folder);

  assert.equal(modeOf(folder), '700');
  assert.deepEqual(readdirSync(folder), []);
});

test('the service ends with exit code 78 and one sentence when it cannot use DATA_DIR', () => {
  using temporary = openTemporary();
  const file = path.join(temporary.folder, 'file');
  writeFileSync(file, '');
  const env = { PATH: process.env['PATH'], DATA_DIR: path.join(file, 'data'), ROLES: 'deliverer', PORT: '0' };

  const { status, stderr } = spawnSync(process.execPath, [serviceProgram()], { env, encoding: 'utf8' });

  assert.equal(status, 78);
  assert.match(stderr, /^DATA_DIR is \S+\/file\/data, and \S+\/file is not a folder\. Set DATA_DIR to a folder\.$/m);
  assert.doesNotMatch(stderr, /^ +at /m);
});

test('the service ends with exit code 78 and names every setting that is wrong', () => {
  const env = { PATH: process.env['PATH'], PORT: 'x', LOG_LEVEL: 'loud' };

  const { status, stderr } = spawnSync(process.execPath, [serviceProgram()], { env, encoding: 'utf8' });

  assert.equal(status, 78);
  assert.match(stderr, /^ +PORT must be .+\n +LOG_LEVEL must be .+$/m);
  assert.doesNotMatch(stderr, /^ +at /m);
});

test('a folder of another user is named with its owner, its mode and the command that mends it', {
  skip: needsRoot,
}, () => {
  using temporary = openTemporary();
  const folder = path.join(temporary.folder, 'data');
  mkdirSync(folder, { mode: 0o755 });

  asOtherUser(() =>
    assert.throws(() => openWritableFolder(folder), {
      message:
        `Folder ${folder} belongs to 0:0, mode 755; Verbatim runs as 10001:10001 and cannot write to it. ` +
        `Type: chown -R 10001:10001 ${folder}, or use a named volume.`,
    }),
  );
  asOtherUser(() =>
    assert.throws(() => openWritableFolder(path.join(folder, 'new')), {
      message: new RegExp(`^Folder ${folder} belongs to 0:0, .* and cannot create ${folder}/new in it\\.`),
    }),
  );
});

test('a folder of another user that the group can write to is used with its mode', { skip: needsRoot }, () => {
  using temporary = openTemporary();
  const folder = path.join(temporary.folder, 'data');
  mkdirSync(folder);
  chownSync(folder, 0, OTHER_USER);
  chmodSync(folder, 0o2770);

  asOtherUser(() => openWritableFolder(folder));

  assert.equal(modeOf(folder), '2770');
});
