import assert from 'node:assert/strict';
import test from 'node:test';
import { toMarkdown } from './markdown.ts';
import { type DocumentFacts, type DocumentSegment, transcriptDocument } from './transcript-document.ts';

const FACTS: DocumentFacts = {
  createdAt: new Date('2026-11-21T09:30:59.999Z'),
  durationMs: 3_723_400,
  model: 'parakeet',
  language: 'pt-BR',
  translatedTo: null,
  isEdited: false,
};

function markdown(segments: DocumentSegment[], facts: Partial<DocumentFacts> = {}, title = 'call.mp3'): string {
  return toMarkdown(transcriptDocument(title, segments, { ...FACTS, ...facts }));
}

test('a document has its title, a line of facts, and a paragraph for each turn with its time', () => {
  const segments = [
    { startSeconds: 5.9, text: ' Hello. ', name: 'Anna' },
    { startSeconds: 8, text: 'How are\nyou?', name: 'Anna' },
    { startSeconds: 3_725, text: 'Fine.', name: 'Speaker B' },
  ];

  assert.equal(
    markdown(segments),
    '# call.mp3\n\n2026-11-21 09:30 UTC · 01:02:03 · parakeet · Brazilian Portuguese\n\n' +
      '**00:00:05 Anna:** Hello. How are you?\n\n**01:02:05 Speaker B:** Fine.\n',
  );
});

test('a paragraph of one voice ends with the first segment after a minute', () => {
  const segments = [0, 30, 59.9, 60, 100].map((startSeconds) => ({ startSeconds, text: `at ${startSeconds}` }));

  assert.deepEqual(markdown(segments).split('\n\n').slice(2), [
    '**00:00:00** at 0 at 30 at 59.9',
    '**00:01:00** at 60 at 100\n',
  ]);
});

test('facts that are not known are left out, and a translation and edits are named', () => {
  const unknown = { durationMs: null, model: null, language: null };

  assert.equal(markdown([], unknown).split('\n')[2], '2026-11-21 09:30 UTC');
  assert.equal(
    markdown([], { ...unknown, language: 'not a code', translatedTo: 'en', isEdited: true }).split('\n')[2],
    '2026-11-21 09:30 UTC · not a code · translated to English · edited',
  );
});

test('a transcript without words says so', () => {
  assert.equal(markdown([{ startSeconds: 0, text: ' ' }]).split('\n\n')[2], '*The transcript has no text.*\n');
});

test('text cannot begin markup, tags, references or blocks', () => {
  const text = '# *a* _b_ `c` [d](e) <script> &amp; ~~f~~ \\ 1. g\n\n- h';

  assert.equal(
    markdown([{ startSeconds: 0, text, name: '**' }], {}, 'C# #').replaceAll('\n', '|'),
    '# C\\# \\#||2026-11-21 09:30 UTC · 01:02:03 · parakeet · Brazilian Portuguese||' +
      '**00:00:00 \\*\\*:** # \\*a\\* \\_b\\_ \\`c\\` \\[d\\](e) \\<script\\> \\&amp; \\~\\~f\\~\\~ \\\\ 1. g - h|',
  );
});
