import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import test from 'node:test';
import { makeId } from '../../platform/clock.ts';
import { openAudioLinks } from './audio-link.ts';

const KEYS = Array.from({ length: 2 }, () => randomBytes(32).toString('base64'));
const target = () => ({ accountId: makeId('acct'), keyId: makeId('key'), jobId: makeId('job') });
const TARGET = target();
const OTHER = target();
const NOW = 1_790_000_000;

test('a link names its job until it expires, to the second', () => {
  const links = openAudioLinks(KEYS[0]!);
  const link = links.make(TARGET, NOW + 60);

  assert.match(link, /^[\w.-]{1,200}$/);
  assert.deepEqual(links.read(link, NOW * 1000), TARGET);
  assert.deepEqual(links.read(link, (NOW + 60) * 1000 - 1), TARGET);
  assert.equal(links.read(link, (NOW + 60) * 1000), null);
});

test('no part of a link can be changed', () => {
  const links = openAudioLinks(KEYS[0]!);
  const link = links.make(TARGET, NOW + 60);
  const [job, account, key, expiry, signature] = link.split('.') as [string, string, string, string, string];
  const forged = [
    [OTHER.jobId, account, key, expiry, signature],
    [job, OTHER.accountId, key, expiry, signature],
    [job, account, OTHER.keyId, expiry, signature],
    [job, account, key, String(NOW + 61), signature],
    [job, account, key, expiry, links.make(OTHER, NOW + 60).split('.')[4]!],
    // The same bytes, with other unused bits in the last character.
    [job, account, key, expiry, withOtherBits(signature)],
    [job, account, key, expiry, ''],
    [job, account, key, expiry, 'A'.repeat(43)],
    [job, account, key, expiry, signature, signature],
    [account, job, key, expiry, signature],
  ].map((parts) => parts.join('.'));

  assert.deepEqual(
    [...forged, '', '.', link.slice(1)].map((text) => links.read(text, NOW * 1000)),
    Array.from({ length: forged.length + 3 }, () => null),
  );
});

test('links of an earlier key open as long as the key is listed', () => {
  const link = openAudioLinks(KEYS[1]!).make(TARGET, NOW + 60);

  assert.deepEqual(openAudioLinks(KEYS.join(',')).read(link, NOW * 1000), TARGET);
  assert.equal(openAudioLinks(KEYS[0]!).read(link, NOW * 1000), null);
});

function withOtherBits(base64url: string): string {
  const characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return base64url.slice(0, -1) + characters[characters.indexOf(base64url.at(-1)!) + 1]!;
}
