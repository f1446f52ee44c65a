import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { pageOf, timedLines } from './transcript-page.ts';

test('pages follow each other without a gap, at most as long as wanted, and no character is cut', () => {
  const SEED = 2;
  const random = randomFrom(SEED);
  const parts = ['word ', 'a', '🙂', '\n', 'long'.repeat(20), ' '];
  for (let round = 0; round < 200; round++) {
    const text = Array.from({ length: random.integer(300) }, () => random.pick(parts)).join('');
    const maxChars = 2 + random.integer(100);
    let whole = '';
    while (whole.length < text.length) {
      const page = pageOf(text, whole.length, maxChars);
      assert.ok(page.text.length > 0 && page.text.length <= maxChars && page.text.isWellFormed(), `seed ${SEED}`);
      whole += page.text;
    }
    assert.equal(whole, text);
  }
});

test('a page ends after a line that fills half of it, else after a word', () => {
  assert.equal(pageOf('one\ntwo three\nfour', 0, 15).text, 'one\ntwo three\n');
  assert.equal(pageOf('one two three', 0, 11).text, 'one two ');
  assert.equal(pageOf('a\none two three', 0, 12).text, 'a\none two ');
  assert.deepEqual(pageOf('one', 7, 11), { text: '', from: 3, to: 3, total: 3 });
});

test('a segment is a line with its time and its speaker', () => {
  const timed = { end: 1, confidence: null };
  const segments = [
    { start: 3_725.9, text: ' Hello ', speaker: 'A', ...timed },
    { start: 0, text: 'Bye', speaker: null, ...timed },
  ];

  assert.equal(timedLines({ segments }), '[1:02:05] A: Hello\n[0:00:00] Bye\n');
});
