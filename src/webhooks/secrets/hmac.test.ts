import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { HmacSha256 } from './hmac.ts';

const SEED = 2104;

test('signatures equal those of node:crypto, for keys, prefixes and bodies of all lengths, one after another', () => {
  const random = randomFrom(SEED);
  const bytes = (below: number) =>
    Buffer.from(Array.from({ length: random.integer(below) }, () => random.integer(256)));
  for (let round = 0; round < 50; round++) {
    const key = bytes(140);
    const hmac = new HmacSha256(key);
    for (const encoding of ['hex', 'base64'] as const) {
      const [prefix, body] = [`${bytes(40).toString('hex')}é.`, bytes(round % 5 === 0 ? 40_000 : 5_000)];
      const expected = createHmac('sha256', key).update(prefix).update(body).digest(encoding);

      assert.equal(hmac.sign(prefix, body, encoding), expected, `seed ${SEED}, round ${round}, key of ${key.length}`);
    }
  }
});
