import assert from 'node:assert/strict';
import test from 'node:test';
import { CAPTION_DEFAULTS } from '../rules/captions/captions.ts';
import { captionOptions, readCaptionFields } from './caption-options.ts';

const read = (fields: Record<string, string>, format: 'json' | 'text' | 'srt' | 'vtt' = 'srt') =>
  readCaptionFields(new Map(Object.entries(fields)), format);

test('without options, captions are not shaped in any format', () => {
  for (const format of ['json', 'text', 'srt', 'vtt'] as const) assert.equal(read({}, format), null);
});

test('with one option, the others have their defaults', () => {
  assert.deepEqual(read({ max_lines: '1' }), { ...CAPTION_DEFAULTS, maxLines: 1 });
  assert.deepEqual(captionOptions({ min_duration: 0.25 }, 'vtt'), { ...CAPTION_DEFAULTS, minDurationMs: 250 });
});

test('all options of a form', () => {
  const fields = {
    max_line_length: '32',
    max_lines: '3',
    min_duration: '1',
    max_duration: '6.5',
    max_chars_per_second: '17',
    min_gap: '0.08',
  };

  assert.deepEqual(read(fields), {
    maxLineLength: 32,
    maxLines: 3,
    minDurationMs: 1_000,
    maxDurationMs: 6_500,
    maxCharsPerSecond: 17,
    minGapMs: 80,
  });
});

const REFUSED: [field: string, given: string][] = [
  ['max_line_length', '9'],
  ['max_line_length', '121'],
  ['max_line_length', '42.5'],
  ['max_lines', '0'],
  ['max_lines', '5'],
  ['max_lines', ''],
  ['min_duration', '-1'],
  ['min_duration', '5.01'],
  ['max_duration', '0.9'],
  ['max_duration', '1e1'],
  ['max_chars_per_second', '4'],
  ['max_chars_per_second', 'NaN'],
  ['min_gap', '1.1'],
  ['min_gap', ' 1'],
];
for (const [field, given] of REFUSED) {
  test(`${field}=${JSON.stringify(given)} is refused`, () => {
    assert.throws(() => read({ [field]: given }), { type: 'invalid_request', param: field });
  });
}

test('options for json and text are refused, and a shortest time above the longest', () => {
  assert.throws(() => read({ max_lines: '1' }, 'json'), { type: 'invalid_request', param: 'max_lines' });
  assert.throws(() => read({ min_gap: '0' }, 'text'), { type: 'invalid_request', param: 'min_gap' });
  assert.throws(() => read({ min_duration: '3', max_duration: '2' }), { param: 'min_duration' });
});
