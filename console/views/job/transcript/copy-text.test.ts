import assert from 'node:assert/strict';
import test from 'node:test';
import { transcriptText } from './copy-text.ts';

const SEGMENTS = [
  { start: 0, text: ' Hello.', voice: 'Speaker A' },
  { start: 2.25, text: 'How are you?', voice: 'Speaker A' },
  { start: 65, text: 'Fine.', voice: 'Speaker B' },
];

test('with times each segment is a line', () => {
  assert.equal(
    transcriptText(SEGMENTS, { hasTimes: true }),
    '[0:00.0] Speaker A: Hello.\n[0:02.3] Speaker A: How are you?\n[1:05.0] Speaker B: Fine.',
  );
});

test('without times each speaker has a paragraph', () => {
  assert.equal(transcriptText(SEGMENTS, { hasTimes: false }), 'Speaker A: Hello. How are you?\n\nSpeaker B: Fine.');
  assert.equal(
    transcriptText(
      SEGMENTS.map((segment) => ({ ...segment, voice: null })),
      { hasTimes: false },
    ),
    'Hello. How are you? Fine.',
  );
});
