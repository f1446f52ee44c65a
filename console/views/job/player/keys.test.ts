import assert from 'node:assert/strict';
import test from 'node:test';
import { commandOf, KEYS, type KeyPress } from './keys.ts';

const press = (key: string, more: Partial<KeyPress> = {}) =>
  commandOf({ key, hasModifier: false, target: 'page', ...more });

test('keys play, seek and find', () => {
  assert.deepEqual(press(' '), { kind: 'toggle' });
  assert.deepEqual(
    [press('j'), press('L')],
    [
      { kind: 'skip', seconds: -10 },
      { kind: 'skip', seconds: 10 },
    ],
  );
  assert.deepEqual(
    [press('ArrowLeft'), press('+')],
    [
      { kind: 'skip', seconds: -5 },
      { kind: 'rate', steps: 1 },
    ],
  );
  assert.deepEqual([press('n'), press('N')], [{ kind: 'next-match' }, { kind: 'previous-match' }]);
  assert.equal(press('x'), null);
});

test('a key that belongs to what has the focus, or to the browser, does nothing here', () => {
  assert.deepEqual([press(' ', { target: 'widget' }), press('ArrowRight', { target: 'widget' })], [null, null]);
  assert.deepEqual(press('j', { target: 'widget' }), { kind: 'skip', seconds: -10 });
  assert.deepEqual(
    KEYS.flatMap(({ keys }) => keys.map((key) => press(key, { target: 'text' }))),
    KEYS.flatMap(({ keys }) => keys.map(() => null)),
  );
  assert.equal(press('f', { hasModifier: true }), null);
});

test('no key has two meanings', () => {
  const keys = KEYS.flatMap((entry) => entry.keys);

  assert.equal(new Set(keys).size, keys.length);
});
