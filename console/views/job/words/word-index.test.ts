import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../../test/fixtures/random.ts';
import { placeWords } from './place-words.ts';
import { indexWords, segmentAtTime, type TimedSegment, wordAtOffset, wordAtTime } from './word-index.ts';

/** A segment whose words take a second each. */
function segmentOf(text: string, start: number): TimedSegment {
  const words = text
    .split(' ')
    .map((word, i) => ({ start: start + i, end: start + i + 0.8, text: word, confidence: 0.5 }));
  return { start, end: words.at(-1)!.end, text, confidence: null, words };
}

function textAt(segments: TimedSegment[], seconds: number): string | null {
  const index = indexWords(segments);
  const entry = wordAtTime(index, seconds);
  return entry < 0 ? null : segments[index.segments[entry]!]!.text.slice(index.from[entry], index.to[entry]);
}

test('the word of a time is the last one that has started; in pauses there is none', () => {
  const segments = [segmentOf('one two two', 1), segmentOf('four five', 20)];

  assert.deepEqual(
    [0.9, 1, 1.9, 2, 3.5, 4.7, 4.9, 19.9, 20, 21.7, 22.9].map((seconds) => textAt(segments, seconds)),
    [null, 'one', 'one', 'two', 'two', 'two', null, null, 'four', 'five', null],
  );
  const index = indexWords(segments);
  assert.deepEqual(
    [0, 3, 19, 20, 99].map((seconds) => segmentAtTime(index, seconds)),
    [0, 0, 0, 1, 1],
  );
});

test('two equal words of a segment stand at different places', () => {
  const index = indexWords([segmentOf('no no no', 0)]);

  assert.deepEqual([...index.from], [0, 3, 6]);
  assert.deepEqual([...index.to], [2, 5, 8]);
});

test('a click between the first letter of a word and the next word finds the word', () => {
  const index = indexWords([segmentOf('a b', 0), segmentOf('hello quiet place', 10)]);

  assert.deepEqual(
    [0, 4, 5, 6, 11, 12, 17].map((offset) => wordAtOffset(index, 1, offset)),
    [2, 2, 2, 3, 3, 4, 4],
  );
});

test('the words of a segment without times of words share its time by their letters', () => {
  const plain = { start: 5, end: 9, text: 'as a whole', confidence: 0.4 };
  const segments = [segmentOf('x y', 0), { ...plain, words: [] }, { ...plain, start: 9, end: 13 }];
  const index = indexWords(segments);

  assert.deepEqual([...index.firstOf], [0, 2, 5, 8]);
  assert.deepEqual(
    [5, 6.1, 6.3, 7.1, 8.9, 9].map((seconds) => textAt(segments, seconds)),
    ['as', 'as', 'a', 'whole', 'whole', 'as'],
  );
  assert.deepEqual(
    [wordAtOffset(index, 1, 0), wordAtOffset(index, 1, 7), index.starts[2], index.ends[4]],
    [2, 4, 5, 9],
  );
});

test('a segment without text is one entry', () => {
  const index = indexWords([{ start: 1, end: 2, text: ' ', confidence: null }]);

  assert.deepEqual([...index.firstOf, index.starts[0], index.to[0]], [0, 1, 1, 1]);
});

test('of two channels that speak at the same time, the one that started last is marked', () => {
  const segments = [segmentOf('long talk of one', 0), segmentOf('yes', 1.5)];

  assert.equal(textAt(segments, 1.6), 'yes');
  assert.equal(textAt(segments, 2.1), 'of');
});

test('words are found in texts without spaces, with punctuation, and spelled otherwise', () => {
  const places = (text: string, ...words: string[]) =>
    placeWords(
      text,
      words.map((word) => ({ text: word })),
    ).map(({ word, from, to }) => `${word}:${text.slice(from, to)}`);

  assert.deepEqual(places('今日は天気', '今日', 'は', '天気'), ['0:今日', '1:は', '2:天気']);
  assert.deepEqual(places('“Well,” he said.', ' Well,', ' he', ' said.'), ['0:Well,', '1:he', '2:said.']);
  assert.deepEqual(places('Dr. Smith is in', 'Doctor', 'Smith', 'is', 'in'), ['1:Smith', '2:is', '3:in']);
  assert.deepEqual(places('', 'a'), []);
  // The last word of a long text is not where an unknown one stands.
  assert.deepEqual(places(`one ${'and so on '.repeat(9)}b`, 'one', 'b', 'and'), ['0:one', '2:and']);
});

test('for 40,000 words each time finds the word that a search from the start finds', () => {
  const random = randomFrom(1);
  const segments = Array.from({ length: 4_000 }, (_, i) => segmentOf('a b c d e f g h i j', i * 10));
  const index = indexWords(segments);

  for (let i = 0; i < 500; i++) {
    const seconds = random.next() * 40_000;
    let found = -1;
    for (let entry = 0; entry < 40_000 && index.starts[entry]! <= seconds; entry++) found = entry;
    assert.equal(wordAtTime(index, seconds), found, `at ${seconds}`);
  }
});
