import assert from 'node:assert/strict';
import test from 'node:test';
import { openSecretBox, openSecretBoxOf } from './secrets.ts';

const OLD = Buffer.alloc(32, 1);
const NEW = Buffer.alloc(32, 2);

test('the first key seals, and every listed key opens', () => {
  const [before, both, after] = [openSecretBox(OLD), openSecretBox(NEW, OLD), openSecretBox(NEW)];
  const sealed = both.seal('wh_1', 'secret');

  assert.deepEqual([both.open('wh_1', before.seal('wh_1', 'old')), both.open('wh_1', sealed)], ['old', 'secret']);
  assert.equal(after.open('wh_1', sealed), 'secret');
  assert.throws(() => before.open('wh_1', sealed), /no key of SECRETS_KEY/);
});

test('what is sealed anew is known by the id of the first key, and opens without the others', () => {
  const both = openSecretBox(NEW, OLD);
  const fresh = both.reseal('wh_1', openSecretBox(OLD).seal('wh_1', 'secret'));

  assert.deepEqual(fresh.subarray(0, both.currentHeader.length), both.currentHeader);
  assert.equal(openSecretBox(NEW).open('wh_1', fresh), 'secret');
  assert.notDeepEqual(both.currentHeader, openSecretBox(OLD, NEW).currentHeader);
});

test('a single key seals as older releases read it: format 1, without an id', () => {
  const [one, two] = [openSecretBox(OLD), openSecretBox(NEW, OLD)].map((box) => box.seal('wh_1', 'secret'));

  assert.deepEqual([one![0], one!.length, two![0], two!.length], [1, 35, 2, 39]);
});

test('a secret opens for its webhook only, and unchanged only', () => {
  for (const box of [openSecretBox(OLD), openSecretBox(NEW, OLD)]) {
    const sealed = box.seal('wh_1', 'secret');
    assert.throws(() => box.open('wh_2', sealed));
    for (let i = 0; i < sealed.length; i++) {
      const changed = Buffer.from(sealed);
      changed[i] = changed[i]! ^ 1;
      assert.throws(() => box.open('wh_1', changed), `byte ${i}`);
      assert.throws(() => box.open('wh_1', sealed.subarray(0, i)), `${i} bytes`);
    }
  }
});

test('keys have 32 bytes, and there is one at least', () => {
  assert.throws(() => openSecretBox(), RangeError);
  assert.throws(() => openSecretBox(OLD, Buffer.alloc(31)), RangeError);
  const list = [NEW, OLD].map((key) => key.toString('base64')).join();
  assert.equal(openSecretBoxOf(list).open('wh_1', openSecretBox(OLD).seal('wh_1', 'x')), 'x');
});
