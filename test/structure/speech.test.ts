import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesOfImage } from '../../scripts/release/image-context.ts';

const FOLDER = 'assets/speech';
const ROOT = path.resolve(import.meta.dirname, '../..');
const texts = JSON.parse(readFileSync(path.join(ROOT, FOLDER, 'texts.json'), 'utf8')) as {
  file: string;
  seconds: number;
  text: string;
  source: string;
}[];

test('each recording has a text, a source, the stated length, and 16,000 samples per second, mono, 16 bits', () => {
  const recordings = readdirSync(path.join(ROOT, FOLDER)).filter((name) => name.endsWith('.wav'));

  assert.deepEqual(recordings, texts.map(({ file }) => file).toSorted());
  for (const { file, seconds, text, source } of texts) {
    const wav = readFileSync(path.join(ROOT, FOLDER, file));
    assert.equal(wav.subarray(0, 4).toString() + wav.subarray(8, 16).toString(), 'RIFFWAVEfmt ');
    assert.deepEqual([wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)], [1, 16_000, 16]);
    assert.deepEqual([wav.subarray(36, 40).toString(), wav.readUInt32LE(40)], ['data', wav.length - 44]);
    assert.equal((wav.length - 44) / 32_000, seconds, file);
    assert.ok(text && source, file);
  }
});

test('the recordings are in the image and in the npm package', () => {
  const files = filesOfImage();
  for (const { file } of texts) assert.ok(files.includes(`${FOLDER}/${file}`), file);
  assert.ok(files.includes(`${FOLDER}/texts.json`));
});
