import assert from 'node:assert/strict';
import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { ctranslate2Whisper, halfFloat } from '../../../test/fixtures/audio/ctranslate2-whisper.ts';
import { SHERPA_OPTIONS } from '../../../test/fixtures/audio/sherpa-options.ts';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../../test/fixtures/audio/tone/speech.ts';
import { asked } from '../../../test/fixtures/engine-conformance.ts';
import { openSherpa } from '../../engines/sherpa/sherpa.ts';
import { convertWhisper } from './convert.ts';
import { quantiseTransposed, ZERO_POINT } from './quantise.ts';

test('sherpa-onnx transcribes with a converted model, with times, in the language that it detects or is told', async () => {
  await using folder = await openTestFolder();
  const files = ctranslate2Whisper();
  for (const [name, bytes] of Object.entries(files)) await writeFile(path.join(folder.path, name), bytes);

  await convertWhisper(folder.path, 'tiny');

  for (const name of Object.keys(files)) await rm(path.join(folder.path, name));
  await using engine = await openSherpa(folder.path, SHERPA_OPTIONS);
  assert.deepEqual(engine.languages, ['en', 'de', 'fr']);
  assert.deepEqual(engine.features, ['words', 'translate']);
  const heard = await engine.transcribe(toneSpeech('hello'), asked({}));
  assert.match(heard.segments.map(({ text }) => text).join(' '), /^world( world)*$/);
  assert.equal(heard.language, 'de');
  const words = heard.segments.flatMap((segment) => segment.words);
  assert(words.length > 1);
  assert(words.every(({ startSeconds, endSeconds }) => 0 <= startSeconds && startSeconds <= endSeconds));
  assert.equal((await engine.transcribe(toneSpeech('hello'), asked({ language: 'fr' }))).language, 'fr');
});

test('the tokens are bytes in base64, in the order of their numbers, without the special ones', async () => {
  await using folder = await openTestFolder();
  for (const [name, bytes] of Object.entries(ctranslate2Whisper()))
    await writeFile(path.join(folder.path, name), bytes);

  await convertWhisper(folder.path, 'tiny');

  const lines = (await readFile(path.join(folder.path, 'tiny-tokens.txt'), 'utf8')).split('\n');
  const words = lines.map((line) => Buffer.from(line.split(' ')[0]!, 'base64').toString());
  assert.deepEqual(words, [' hello', ' world', 'ä', ' ', '', '']);
  assert.deepEqual(lines.slice(-3), ['IA== 3', '= 4', '']);
});

test('a matrix gets 8 bits with a scale for each row, and is transposed', () => {
  const halves = Uint16Array.from([1, -0.75, 0.25, 0, 0, 0], halfFloat);

  const { values, scales } = quantiseTransposed(halves, 2);

  assert.deepEqual(
    [...values].map((value) => value - ZERO_POINT),
    [127, 0, -95, 0, 32, 0],
  );
  assert.deepEqual([...scales], [Math.fround(1 / 127), 0]);
});
