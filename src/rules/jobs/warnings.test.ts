import assert from 'node:assert/strict';
import test from 'node:test';
import { MAX_WARNINGS, toWarnings, WARNING_MESSAGES } from './warnings.ts';

const message = WARNING_MESSAGES.text_cut;
const cut = (startSeconds: number, endSeconds: number) => ({ code: 'text_cut', startSeconds, endSeconds }) as const;

test('warnings of one code about parts that touch are one, with the joint times', () => {
  const warnings = toWarnings([cut(0, 29.4), cut(29.4, 58.00051), { code: 'prompt_unsupported' }, cut(80, 90)]);

  assert.deepEqual(warnings, [
    { code: 'text_cut', message, start: 0, end: 58.001 },
    { code: 'prompt_unsupported', message: WARNING_MESSAGES.prompt_unsupported },
    { code: 'text_cut', message, start: 80, end: 90 },
  ]);
});

test('a warning about all of the audio is shown once, beside those about parts of it', () => {
  const warnings = toWarnings([{ code: 'text_cut' }, { code: 'text_cut' }, cut(1, 2)]);

  assert.deepEqual(warnings, [
    { code: 'text_cut', message },
    { code: 'text_cut', message, start: 1, end: 2 },
  ]);
});

test('the times of a part inside an earlier one do not shorten it', () => {
  assert.deepEqual(toWarnings([cut(0, 10), cut(2, 3)]), [{ code: 'text_cut', message, start: 0, end: 10 }]);
});

test('past the limit the rest is counted', () => {
  const found = Array.from({ length: MAX_WARNINGS + 3 }, (_, i) => cut(2 * i, 2 * i + 1));

  const warnings = toWarnings(found);

  assert.equal(warnings.length, MAX_WARNINGS + 1);
  assert.deepEqual(warnings.at(-1), { code: 'more_warnings', message: '3 more warnings are not shown.' });
});

test('no warnings are an empty list, and what was found stays unchanged', () => {
  const found = [cut(0, 1), cut(1, 2)];

  assert.deepEqual([toWarnings([]), toWarnings(found).length], [[], 1]);
  assert.deepEqual(found, [cut(0, 1), cut(1, 2)]);
});

test('a part of a live session whose text is missing is named by its times, and being behind is said once', () => {
  const shown = toWarnings([
    { code: 'segment_failed', startSeconds: 1, endSeconds: 2.5 },
    { code: 'behind' },
    { code: 'behind' },
  ]);

  assert.deepEqual(
    shown.map(({ code, start, end }) => [code, start, end]),
    [
      ['segment_failed', 1, 2.5],
      ['behind', undefined, undefined],
    ],
  );
});
