import assert from 'node:assert/strict';
import test from 'node:test';
import { readState, type SignInState, writeState } from './sign-in-state.ts';

const [KEY, OTHER] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const STATE: SignInState = { state: 's', nonce: 'n', verifier: 'v', redirectUri: 'https://a.example/', token: null };
const NOW_MS = 1_800_000_000_000;

test('a state is read for 10 minutes, also after another key was put before', () => {
  const value = writeState(STATE, KEY, NOW_MS);

  assert.deepEqual(readState(value, KEY, NOW_MS), STATE);
  assert.deepEqual(readState(value, `${OTHER},${KEY}`, NOW_MS + 599_000), STATE);
  assert.equal(readState(value, KEY, NOW_MS + 600_000), null);
});

test('a state of another key, a changed one and no state are refused', () => {
  const value = writeState(STATE, KEY, NOW_MS);
  const [, signature] = value.split('.');
  const forged = Buffer.from(JSON.stringify({ ...STATE, endsAt: 1e12 })).toString('base64url');

  for (const given of [`${forged}.${signature}`, `${forged}.`, forged, '', null]) {
    assert.equal(readState(given, KEY, NOW_MS), null);
  }
  assert.equal(readState(value, OTHER, NOW_MS), null);
});
