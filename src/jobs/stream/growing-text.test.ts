import assert from 'node:assert/strict';
import test from 'node:test';
import { processorTime } from '../../../test/fixtures/processor-time.ts';
import { GrowingText } from './growing-text.ts';

// Four hours in pieces of two seconds, with far more text than is spoken.
const PIECES = 7_200;
const PIECE = 'x'.repeat(20_000);

function textOf(...pieces: string[]): GrowingText {
  const text = new GrowingText();
  for (const piece of pieces) text.add(piece);
  return text;
}

test('pieces are joined by spaces, empty ones are not', () => {
  const text = new GrowingText();

  assert.deepEqual(
    ['', 'one', '', 'two'].map((piece) => text.add(piece)),
    ['', 'one', '', ' two'],
  );
  assert.deepEqual([text.end('one two three'), text.sent], [' three', 'one two three']);
});

test('after a restart only what comes behind the text that was sent is returned, however it is cut', () => {
  const text = textOf('begun', 'and');
  text.restart();

  assert.deepEqual(
    ['beg', '', 'un'].map((piece) => text.add(piece)),
    ['', '', null],
  );
  text.restart();
  assert.deepEqual(
    ['begun and', 'more'].map((piece) => text.add(piece)),
    ['', ' more'],
  );
  assert.equal(textOf('begun').end('be'), null);
});

test('a piece costs what it is long, however long the text is', () => {
  const usedMs = processorTime();
  const text = new GrowingText();
  for (let piece = 0; piece < PIECES; piece++) text.add(PIECE);

  assert.ok(usedMs() < 3_000);
  assert.equal(text.sent.length, PIECES * (PIECE.length + 1) - 1);
});
