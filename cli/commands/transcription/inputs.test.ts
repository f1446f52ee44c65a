import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../../test/fixtures/service.ts';
import { UsageError } from '../../exit.ts';
import { resolveInputs } from './inputs.ts';

const folder = temporaryFolder();
after(() => fs.rmSync(folder, { recursive: true }));
const NAMES = ['jfk.aac', 'jfk.wav', 'talk.mp3', path.join('other', 'jfk.aac')];
fs.mkdirSync(path.join(folder, 'other'));
for (const name of NAMES) fs.writeFileSync(path.join(folder, name), 'x');

function targetsOf(names: readonly string[]): (string | null)[] {
  const words = names.map((name) => path.join(folder, name));
  const options = { out: 'subs', ending: 'srt', force: false, name: 'audio', stdin: process.stdin };
  return resolveInputs(words, { ...options, urlHeaders: undefined }).map(({ target }) => target);
}

test('files that differ in their endings only keep them in the names of their transcripts', () => {
  assert.deepEqual(targetsOf(['jfk.aac', 'jfk.wav', 'talk.mp3']), [
    ...['subs/jfk.aac.srt', 'subs/jfk.wav.srt', 'subs/talk.srt'],
  ]);
});

test('files of one name in two folders are refused, before one is sent', () => {
  assert.throws(() => targetsOf(['jfk.aac', 'other/jfk.aac']), UsageError);
});
