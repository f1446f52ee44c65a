import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { openAudio } from './open-audio.ts';
import { AudioGoneError, StorageAwayError } from './storage.ts';

for (const isInMemory of [false, true]) {
  test(`errors of the file system become those of the storage, isInMemory: ${isInMemory}`, async () => {
    await using folder = await openTestFolder();
    const file = await folder.write('audio', Buffer.from('sound'));
    const from = { isInMemory };

    await assert.rejects(openAudio(path.join(folder.path, 'gone'), from), AudioGoneError);
    await assert.rejects(openAudio(path.join(file, 'below-a-file'), from), StorageAwayError);
    using opened = await openAudio(folder.path, from);
    await assert.rejects(opened.read(0, 5, from), (error: Error) => {
      return error instanceof StorageAwayError && (error.cause as NodeJS.ErrnoException).code === 'EISDIR';
    });
    using stored = await openAudio(file, from);
    assert.equal((await stored.read(1, 10, from)).toString(), 'ound');
  });
}
