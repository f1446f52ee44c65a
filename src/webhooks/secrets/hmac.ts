import { hash } from 'node:crypto';

const BLOCK_BYTES = 64;
const HASH_BYTES = 32;
// In UTF-8, of one UTF-16 unit.
const MAX_BYTES_PER_CHAR = 3;
// What is hashed is copied to one place, where it fits: a buffer for each signature costs more than the copy.
const scratch = Buffer.alloc(16 * 1024);

/**
 * HMAC-SHA256 (RFC 2104) under one key, as two plain hashes. `createHmac` makes a native object for each signature, and
 * its collection costs more than the signature.
 */
export class HmacSha256 {
  readonly #innerPad: Buffer;
  /** The pad, then the place of the inner hash. */
  readonly #outer: Buffer;

  constructor(key: Buffer) {
    const block = Buffer.alloc(BLOCK_BYTES);
    (key.length > BLOCK_BYTES ? hash('sha256', key, 'buffer') : key).copy(block);
    this.#innerPad = Buffer.from(block.map((byte) => byte ^ 0x36));
    this.#outer = Buffer.concat([block.map((byte) => byte ^ 0x5c), Buffer.alloc(HASH_BYTES)]);
  }

  /** The signature of `prefix` and then `body`. */
  sign(prefix: string, body: Buffer, encoding: 'hex' | 'base64'): string {
    const maxBytes = BLOCK_BYTES + MAX_BYTES_PER_CHAR * prefix.length + body.length;
    const inner = maxBytes <= scratch.length ? scratch : Buffer.allocUnsafe(maxBytes);
    inner.set(this.#innerPad);
    const bodyStart = BLOCK_BYTES + inner.write(prefix, BLOCK_BYTES);
    inner.set(body, bodyStart);
    this.#outer.write(hash('sha256', inner.subarray(0, bodyStart + body.length), 'binary'), BLOCK_BYTES, 'latin1');
    return hash('sha256', this.#outer, encoding);
  }
}
