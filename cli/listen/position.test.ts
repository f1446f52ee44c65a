import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomFrom } from '../../test/fixtures/random.ts';
import { Position } from './position.ts';

test('the position is behind the last frame before which everything is done', () => {
  const position = new Position();
  const [first, second, third] = ['a', 'b', 'c'].map((id) => position.begin(id));

  assert.equal(position.resumeId, null);
  second!();
  assert.equal(position.resumeId, null);
  first!();
  assert.equal(position.resumeId, 'b');
  third!();
  assert.equal(position.resumeId, 'c');
});

test('a frame without an id keeps the position', () => {
  const position = new Position();
  position.begin('a')();
  position.begin(null)();

  assert.equal(position.resumeId, 'a');
});

test('whatever the order, no frame that is not done is left behind', () => {
  const SEED = 4;
  const random = randomFrom(SEED);
  const position = new Position();
  const open = new Map<number, () => void>();
  for (let step = 0, next = 0; step < 2_000; step++) {
    if (random.next() < 0.5 || open.size === 0) open.set(next, position.begin(String(next++)));
    else {
      const id = random.pick([...open.keys()]);
      open.get(id)!();
      open.delete(id);
    }
    const oldest = Math.min(next, ...open.keys());
    assert.equal(position.resumeId, oldest === 0 ? null : String(oldest - 1), `seed ${SEED}, step ${step}`);
  }
});
