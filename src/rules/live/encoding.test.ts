import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesPerFrame, decodeSamples, durationMs, LIVE_ENCODINGS, LIVE_SAMPLE_RATES } from './encoding.ts';

test('µ-law and A-law bytes become the samples of ITU-T G.711', () => {
  // Pairs of byte and sample from the tables of the standard, scaled to 16 bits.
  const mulaw = { 0: -32_124, 15: -16_764, 127: 0, 128: 32_124, 191: 1_980, 255: 0, 240: 120 };
  const alaw = { 213: 8, 85: -8, 170: 32_256, 42: -32_256, 128: 5_504, 0: -5_504, 197: 264 };

  for (const [byte, sample] of Object.entries(mulaw)) {
    assert.equal(decodeSamples('mulaw', Uint8Array.of(Number(byte)))[0], sample, `µ-law ${byte}`);
  }
  for (const [byte, sample] of Object.entries(alaw)) {
    assert.equal(decodeSamples('alaw', Uint8Array.of(Number(byte)))[0], sample, `A-law ${byte}`);
  }
});

test('PCM is read little-endian from any position, and half a sample at the end is dropped', () => {
  const bytes = Uint8Array.of(9, 0x34, 0x12, 0xff, 0xff, 0x00, 0x80, 7).subarray(1);

  assert.deepEqual([...decodeSamples('pcm_s16le', bytes)], [0x1234, -1, -32_768]);
});

test('10 ms are a whole number of bytes in every format', () => {
  for (const encoding of LIVE_ENCODINGS) {
    for (const sampleRate of LIVE_SAMPLE_RATES) assert.ok(Number.isInteger(bytesPerFrame({ encoding, sampleRate })));
  }
  assert.equal(durationMs({ encoding: 'pcm_s16le', sampleRate: 16_000 }, 32_031), 1_000);
  assert.equal(durationMs({ encoding: 'mulaw', sampleRate: 8_000 }, 492_000), 61_500);
});
