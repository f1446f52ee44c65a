import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { Agreement } from './agreement.ts';

const heard = (text: string) => ({ text, startSeconds: 0, endSeconds: 0 });
const wordsOf = (text: string) => text.split(' ').flatMap((word) => (word === '' ? [] : [heard(word)]));
const textOf = (words: { text: string }[]) => words.map(({ text }) => text).join(' ');

function pass(agreement: Agreement, text: string): [stable: string, open: string] {
  const { stable, open } = agreement.push(wordsOf(text));
  return [textOf(stable), textOf(open)];
}

test('a word is stable once two passes in a row agree on it and on all before it', () => {
  const agreement = new Agreement();

  assert.deepEqual(pass(agreement, 'so my'), ['', 'so my']);
  assert.deepEqual(pass(agreement, 'So, my fellow'), ['So, my', 'fellow']);
  assert.deepEqual(pass(agreement, 'so my fell or'), ['So, my', 'fell or']);
  assert.deepEqual(pass(agreement, 'so my fellow Americans ask'), ['So, my', 'fellow Americans ask']);
  assert.deepEqual(pass(agreement, 'no my fellow Americans, ask not'), ['So, my fellow Americans, ask', 'not']);
});

test('stable words only grow, and errors that differ from pass to pass never become stable', () => {
  for (let seed = 1; seed <= 50; seed++) {
    const random = randomFrom(seed);
    const truth = Array.from({ length: 60 }, (_, at) => `word${at}`);
    const agreement = new Agreement();
    let before: string[] = [];
    for (let step = 1; step <= 30; step++) {
      const words = truth.slice(0, 2 * step).map((text) => heard(random.integer(8) === 0 ? `error${step}` : text));
      const stable = agreement.push(words).stable.map(({ text }) => text);
      assert.deepEqual(stable.slice(0, before.length), before, `seed ${seed}`);
      assert.deepEqual(stable, truth.slice(0, stable.length), `seed ${seed}`);
      before = stable;
    }
  }
});

test('an unchanged pass is stable as a whole, and the same passes give the same result', () => {
  const [one, other] = [new Agreement(), new Agreement()];
  pass(one, 'a b c');
  pass(other, 'a b c');

  assert.deepEqual(pass(one, 'a b c'), ['a b c', '']);
  assert.deepEqual(pass(other, 'a b c'), ['a b c', '']);
});

test('a loop is stable twice', () => {
  const loop = 'thank you for watching thank you for watching thank you for watching thank you for watching';
  const agreement = new Agreement();
  pass(agreement, loop);

  assert.equal(pass(agreement, loop)[0].split('watching').length - 1, 2);
});
