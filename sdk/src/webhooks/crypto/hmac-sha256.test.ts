import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';
import { hmacSha256 } from './hmac-sha256.ts';

test('the HMAC is that of node:crypto, for keys and texts of all lengths around the limits of a block', () => {
  const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + length) & 0xff);
  for (const keyBytes of [0, 1, 32, 63, 64, 65, 200]) {
    for (const bodyBytes of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 1000, 70_000]) {
      const [key, body] = [bytes(keyBytes), bytes(bodyBytes)];
      const expected = createHmac('sha256', key).update('é.').update(body).digest('hex');
      assert.equal(Buffer.from(hmacSha256(key, 'é.', body)).toString('hex'), expected, `${keyBytes} and ${bodyBytes}`);
    }
  }
});
