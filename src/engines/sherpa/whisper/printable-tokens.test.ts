import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openTestFolder } from '../../../../test/fixtures/audio/test-audio.ts';
import { CHARACTER_OF_BYTE } from '../../../models/whisper/tokens.ts';
import { readPrintable, withPrintableTokens } from './printable-tokens.ts';

const printable = (bytes: Buffer) => Array.from(bytes, (byte) => CHARACTER_OF_BYTE[byte]).join('');
const cut = (text: string, ...ends: number[]) => {
  const bytes = Buffer.from(text);
  return [...ends, bytes.length].map((end, at) => printable(bytes.subarray(ends[at - 1] ?? 0, end)));
};

test('the tokens are written with a character for each byte, and deleted after use', async () => {
  await using folder = await openTestFolder();
  const tokens = path.join(folder.path, 'tokens.txt');
  await writeFile(tokens, `${Buffer.from(' ä').toString('base64')} 0\n${Buffer.of(0xe8).toString('base64')} 1\n= 2\n`);

  const [lines, file] = await withPrintableTokens(tokens, async (file) => [await readFile(file, 'utf8'), file]);

  const texts = lines!.split('\n').map((line) => Buffer.from(line.split(' ')[0]!, 'base64').toString());
  assert.deepEqual(texts, ['ĠÃ¤', 'è', '', '']);
  assert.match(lines!, /^\S+ 0\n\S+ 1\n= 2\n$/);
  assert(!existsSync(file!));
});

test('tokens that are parts of one character become one, with the time of all of them', () => {
  const tokens = cut('客観的 "a\\b"', 3, 5, 6, 9, 12);

  const result = readPrintable({
    text: tokens.join(''),
    tokens,
    timestamps: [0, 1, 2, 3, 4, 5],
    durations: [1, 1, 1, 1, 1, 1],
  });

  assert.equal(result.text, '客観的 "a\\b"');
  assert.deepEqual(result.tokens, ['客', '観', '的', ' "a', '\\b"']);
  assert.deepEqual(result.timestamps, [0, 1, 3, 4, 5]);
  assert.deepEqual(result.durations, [1, 2, 1, 1, 1]);
});

test('a character that the model did not finish is left out', () => {
  const result = readPrintable({ text: printable(Buffer.of(0x61, 0xe8, 0xa6)), tokens: cut('a', 0) });

  assert.equal(result.text, 'a');
});

test('a text without times keeps its tokens', () => {
  assert.deepEqual(readPrintable({ text: 'Ġa', tokens: ['Ġa'] }), {
    text: ' a',
    tokens: [' a'],
    timestamps: [],
    durations: [],
  });
});
