import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { FILE_SYSTEMS, lackingFor, openPowerDisk } from './power-disk.ts';

function write(file: string): void {
  fs.writeFileSync(file, 'a word '.repeat(10_000));
}

function sync(name: string): void {
  const descriptor = fs.openSync(name, 'r');
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}

for (const fileSystem of FILE_SYSTEMS) {
  const lacking = lackingFor(fileSystem);
  const skip = lacking.length > 0 ? `THIS MACHINE LACKS ${lacking.join(', ')}` : false;

  test(`a power cut on ${fileSystem} loses what was not synced, and nothing else`, { skip }, async () => {
    await using disk = await openPowerDisk(fileSystem);
    write(path.join(disk.folder, 'synced'));
    sync(path.join(disk.folder, 'synced'));
    sync(disk.folder);
    write(path.join(disk.folder, 'not-synced'));

    await disk.cut(1);
    write(path.join(disk.folder, 'too-late'));
    sync(path.join(disk.folder, 'too-late'));
    await disk.restore();

    const found = fs.readdirSync(disk.folder).filter((name) => name !== 'lost+found');
    assert.deepEqual(found, ['synced']);
    assert.equal(fs.readFileSync(path.join(disk.folder, 'synced'), 'utf8').length, 70_000);
  });
}
