import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { dataFolder } from './running-folder.ts';

test('without DATA_DIR a command works on the folder of the service or the demo that runs, or is the only one', () => {
  const before = process.cwd();
  const folder = mkdtempSync(path.join(os.tmpdir(), 'verbatim-test-'));
  process.chdir(folder);
  const open = (dataDir: string, pid: number) => {
    mkdirSync(path.join(dataDir, 'database'), { recursive: true });
    writeFileSync(path.join(dataDir, 'database/owner.pid'), `${pid}\n`);
  };

  const chosen = [dataFolder({})];
  open('data-demo', 2 ** 30);
  chosen.push(dataFolder({}));
  open('data', 2 ** 30);
  chosen.push(dataFolder({}));
  open('data-demo', process.pid);
  chosen.push(dataFolder({}), dataFolder({ DATA_DIR: '/elsewhere' }));
  process.chdir(before);
  rmSync(folder, { recursive: true });

  assert.deepEqual(chosen, ['./data', './data-demo', './data', './data-demo', '/elsewhere']);
});
