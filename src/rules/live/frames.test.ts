import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { LIVE_ENCODINGS, LIVE_SAMPLE_RATES } from './encoding.ts';
import { FrameReader, silentBytes } from './frames.ts';

test('the frames are the same however the bytes are divided', () => {
  const random = randomFrom(3);
  for (const encoding of LIVE_ENCODINGS) {
    for (const sampleRate of LIVE_SAMPLE_RATES) {
      const bytes = Uint8Array.from({ length: 20_011 }, () => random.integer(256));
      const whole = new FrameReader({ encoding, sampleRate });
      const expected = [...whole.push(bytes), ...whole.end()];
      const reader = new FrameReader({ encoding, sampleRate });
      const frames: Int16Array[] = [];
      for (let at = 0; at < bytes.length; ) {
        const size = 1 + random.integer(random.pick([2, 100, 5_000]));
        frames.push(...reader.push(bytes.subarray(at, at + size)));
        at += size;
      }
      frames.push(...reader.end());

      assert.deepEqual(frames, expected, `${encoding} at ${sampleRate} Hz`);
    }
  }
});

test('silence is silent in every encoding', () => {
  for (const encoding of LIVE_ENCODINGS) {
    const format = { encoding, sampleRate: 8_000 } as const;
    const reader = new FrameReader(format);
    const bytes = [...silentBytes(format, 100_000)];

    assert.equal(
      bytes.reduce((sum, { length }) => sum + length, 0),
      100_000,
    );
    const loudest = Math.max(...bytes.flatMap((block) => [...reader.push(block)]).map((frame) => Math.max(...frame)));
    assert.ok(loudest <= 16, encoding);
  }
});
