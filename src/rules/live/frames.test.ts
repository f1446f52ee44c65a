import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { bytesPerFrame, LIVE_ENCODINGS, LIVE_SAMPLE_RATES } from './encoding.ts';
import { FrameReader, type Gap } from './frames.ts';

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

test('a gap is a number of frames, and silence in the frames that it shares with other bytes', () => {
  for (const encoding of LIVE_ENCODINGS) {
    const format = { encoding, sampleRate: 16_000 } as const;
    const frameBytes = bytesPerFrame(format);
    const reader = new FrameReader(format);
    const loud = new Uint8Array(Math.floor(frameBytes / 2)).fill(0x12);
    const gapBytes = 2 ** 50 * frameBytes;
    const items = [...reader.push(loud), ...reader.skip(gapBytes), ...reader.push(loud)];

    const [first, gap, last] = items as [Int16Array, Gap, Int16Array];
    assert.deepEqual([items.length, gap], [3, { gapFrames: 2 ** 50 - 1 }], encoding);
    const loudestIn = (samples: Int16Array) => Math.max(...samples.map(Math.abs));
    assert.ok(loudestIn(first.subarray(0, 80)) > 100 && loudestIn(last.subarray(80)) > 100, encoding);
    assert.ok(loudestIn(first.subarray(80)) <= 16 && loudestIn(last.subarray(0, 80)) <= 16, encoding);
  }
});

test('a reader that starts at any frame gives the frames and gaps that one from the start gave', () => {
  const random = randomFrom(4);
  const format = { encoding: 'mulaw', sampleRate: 8_000 } as const;
  const frameBytes = bytesPerFrame(format);
  const parts = Array.from({ length: 40 }, (_, at) => ({
    isGap: at % 2 === 1,
    bytes: Uint8Array.from({ length: 1 + random.integer(6 * frameBytes) }, () => random.integer(256)),
  }));
  const totalBytes = parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const readFrom = (firstByte: number) => {
    const reader = new FrameReader(format);
    const frames = new Map<number, Int16Array>();
    let [at, frame] = [0, firstByte / frameBytes];
    for (const { isGap, bytes } of parts) {
      const rest = bytes.subarray(Math.max(0, firstByte - at));
      at += bytes.length;
      for (const next of isGap ? reader.skip(rest.length) : reader.push(rest)) {
        if ('gapFrames' in next) frame += next.gapFrames;
        else frames.set(frame++, next);
      }
    }
    return frames;
  };
  const expected = readFrom(0);
  assert.ok(expected.size < totalBytes / frameBytes - 30);

  for (let frame = 1; frame < totalBytes / frameBytes; frame++) {
    // The resampler needs the frame before the first.
    for (const [at, samples] of readFrom((frame - 1) * frameBytes)) {
      if (at >= frame) assert.deepEqual(samples, expected.get(at), `frame ${at} of a reader from ${frame}`);
    }
  }
});
