import assert from 'node:assert/strict';
import test from 'node:test';
import { CAPTION_DEFAULTS } from '../../../src/rules/captions/captions.ts';
import { captionParams, FIELDS, NO_SHAPE, USUAL_SHAPE } from './caption-form.ts';

test('fields that are empty, or no number within the limits, are left out of the request', () => {
  assert.deepEqual(captionParams(NO_SHAPE), { format: 'srt' });
  assert.deepEqual(
    captionParams({
      ...NO_SHAPE,
      format: 'vtt',
      hasNames: true,
      max_line_length: '9',
      max_lines: '1.5',
      min_gap: '0',
      max_duration: 'x',
    }),
    { format: 'vtt', speakers: 'true', min_gap: 0 },
  );
});

test('the usual values are those of the service', () => {
  assert.deepEqual(captionParams({ ...NO_SHAPE, ...USUAL_SHAPE }), {
    format: 'srt',
    max_line_length: CAPTION_DEFAULTS.maxLineLength,
    max_lines: CAPTION_DEFAULTS.maxLines,
    min_duration: CAPTION_DEFAULTS.minDurationMs / 1000,
    max_duration: CAPTION_DEFAULTS.maxDurationMs / 1000,
    max_chars_per_second: CAPTION_DEFAULTS.maxCharsPerSecond,
    min_gap: CAPTION_DEFAULTS.minGapMs / 1000,
  });
  assert.equal(FIELDS.length, 6);
});
