import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chunkTranscript } from './chunks.ts';
import { findHits } from './hits.ts';
import { parseSearchQuery, type Stem } from './search-query.ts';

const stem: Stem = (language, word) => (language === 'en' ? word.replace(/s$/, '') : null);
const PLAIN = { tags: [], language: null, stem };

/** Segments of ten seconds, each with its words. */
const segmentsOf = (texts: string[]) => texts.map((text, index) => ({ start: index * 10, end: index * 10 + 10, text }));

test('a chunk has words with their positions, other stems at the same positions, and tags without', () => {
  const [chunk] = chunkTranscript(segmentsOf(['Two cats', "and a cat's"]), { tags: ['@a'], language: 'en', stem });

  assert.equal(chunk!.words, "'@a' 'two':1 'cats':2 'en~cat':2 'and':3 'a':4 'cat':5 's':6 'en~':6");
});

test('chunks take about five minutes, whole segments, and the next ten words', () => {
  const texts = Array.from({ length: 65 }, (_, index) => `w${index} x`);

  const chunks = chunkTranscript(segmentsOf(texts), PLAIN);

  assert.deepEqual(
    chunks.map(({ number, firstSegment, segments }) => [number, firstSegment, segments.length]),
    [
      [0, 0, 35],
      [1, 30, 35],
      [2, 60, 5],
    ],
  );
  assert.match(chunks[0]!.words, /'w34':69$/);
});

test('dense speech makes shorter chunks, and no position is beyond what PostgreSQL counts', () => {
  const dense = Array.from({ length: 10 }, () => 'w '.repeat(600).trim());
  const [first, second] = chunkTranscript(segmentsOf(dense), PLAIN);
  const [giant] = chunkTranscript(segmentsOf([Array.from({ length: 20_000 }, (_, i) => `w${i}`).join(' ')]), PLAIN);

  assert.deepEqual([first!.segments.length, second!.firstSegment], [5, 4]);
  assert.match(giant!.words, /'w19999':16383$/);
});

test('a transcript without segments has no chunks', () => {
  assert.deepEqual(chunkTranscript([], PLAIN), []);
});

const hitsOf = (texts: string[], query: string, limit = 3) => {
  const chunks = chunkTranscript(segmentsOf(texts), { tags: [], language: 'en', stem });
  const hits = findHits(chunks, parseSearchQuery(query)!, { language: 'en', languages: ['en'], stem, limit });
  return hits.map(({ segment, text, highlights }) => [segment, highlights.map(([from, to]) => text.slice(from, to))]);
};

test('hits are the segments with most terms, in the order of the audio, with the words marked', () => {
  const texts = ['The Cat.', 'no', 'A cat and dogs', 'dog', 'cats', 'cat dog'];

  assert.deepEqual(hitsOf(texts, 'cat dog'), [
    [0, ['Cat']],
    [2, ['cat', 'dogs']],
    [5, ['cat', 'dog']],
  ]);
  assert.deepEqual(hitsOf(texts, '"cat" or mouse', 10), [
    [0, ['Cat']],
    [2, ['cat']],
    [5, ['cat']],
  ]);
});

test('a phrase is marked only where its words follow each other, over segments too', () => {
  assert.deepEqual(hitsOf(['see the big', 'red car, red the', 'car'], '"big red car"'), [
    [0, ['big']],
    [1, ['red', 'car']],
  ]);
});

test('words that two chunks hold are marked once', () => {
  const texts = Array.from({ length: 40 }, (_, index) => (index === 30 ? 'needle here' : 'some hay'));

  assert.deepEqual(hitsOf(texts, 'needle'), [[30, ['needle']]]);
});
