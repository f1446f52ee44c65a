import assert from 'node:assert/strict';
import { test } from 'node:test';
import { captionParams, FORMATS } from './captions.ts';

test('captions are shaped for reading without an option; other formats take none', () => {
  const lengths = FORMATS.map((format) => [format, captionParams(format, {}).max_line_length]);

  assert.deepEqual(lengths, [
    ['txt', undefined],
    ['srt', 42],
    ['vtt', 42],
    ['json', undefined],
    ['md', undefined],
    ['docx', undefined],
    ['pdf', undefined],
  ]);
  assert.equal(captionParams('srt', { maxLineLength: 20 }).max_line_length, 20);
});
