import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { canBeKey, composeKey } from './api-key.ts';

const RANDOM = Uint8Array.from({ length: 64 }, (_, i) => (i * 37) % 256);

test('a key is vb_, 43 random characters of base62 and the checksum of both: CRC-32 in base62', () => {
  const key = composeKey(RANDOM)!;

  // Its checksum was computed with zlib of Python.
  assert.equal(key, 'vb_0bCnOza3eFqR2d6hItU5g9kLwX8jCnOzaBmFqR2dEpI4Js2Dx');
  assert.ok(canBeKey(key));
});

test('too few fair bytes make no key', () => {
  assert.equal(composeKey(new Uint8Array(64).fill(255)), null);
  assert.equal(composeKey(new Uint8Array(42)), null);
});

test('every character of the alphabet is as likely as any other', () => {
  const bytes = Uint8Array.from({ length: 248 }, (_, i) => i);
  const drawn = [0, 43, 86, 129, 172].map((from) => composeKey(bytes.slice(from))!.slice(3, 46)).join('');

  assert.equal(new Set(drawn).size, 62);
});

test('a key with one character changed or two exchanged is none', () => {
  const random = randomFrom(17);
  const key = composeKey(RANDOM)!;
  for (let i = 3; i < key.length; i++) {
    const other = random.pick([...'0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz']);
    const changed = key.slice(0, i) + other + key.slice(i + 1);
    const exchanged = key.slice(0, i - 1) + key[i] + key[i - 1] + key.slice(i + 1);
    assert.equal(canBeKey(changed), changed === key, changed);
    assert.equal(canBeKey(exchanged), exchanged === key, exchanged);
  }
});

test('keys of earlier releases have no checksum', () => {
  assert.ok(canBeKey(`vb_${'aZ09_-'.repeat(7)}x`));
  assert.deepEqual(
    ['', 'vb_', `vb_${'a'.repeat(42)}`, `vb_${'a'.repeat(49)}`, `vb-${'a'.repeat(43)}`].filter(canBeKey),
    [],
  );
});
