import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import test from 'node:test';
import { randomFrom } from '../../../../test/fixtures/random.ts';
import { decodeSamples, LIVE_ENCODINGS } from '../../../rules/live/encoding.ts';
import { flacMaxBytes, flacOf } from './flac.ts';
import type { StoredPart } from './live-audio.ts';

/** Samples of a FLAC file, by ffmpeg; a checksum that is wrong ends the test. */
function decode(flac: Buffer): Int16Array {
  const strict = ['-v', 'error', '-xerror', '-err_detect', 'crccheck+explode'];
  const pcm = execFileSync('ffmpeg', [...strict, '-f', 'flac', '-i', '-', '-f', 's16le', '-'], {
    input: flac,
    maxBuffer: 2 ** 30,
  });
  return decodeSamples('pcm_s16le', pcm);
}

async function flacFrom(format: Parameters<typeof flacOf>[0], parts: StoredPart[]) {
  const bytes = parts.reduce((sum, part) => sum + (part.kind === 'gap' ? part.bytes : part.bytes.length), 0);
  const flac = Buffer.concat(await Array.fromAsync(flacOf(format, bytes, stream(parts))));
  assert.ok(flac.length <= flacMaxBytes(format, bytes));
  return { flac, bytes };
}

async function* stream(parts: StoredPart[]) {
  yield* parts;
}

test('the samples are those that were received, gaps are silence, and both lie where they lay', async () => {
  const random = randomFrom(8);
  for (const encoding of LIVE_ENCODINGS) {
    const whole: number[] = [];
    const parts: StoredPart[] = [];
    for (let part = 0; part < 12; part++) {
      const size = 1 + random.integer(random.pick([3, 5_000, 30_000]));
      const bytes = Uint8Array.from({ length: size }, () => random.integer(256));
      const isGap = part % 3 === 1;
      parts.push(isGap ? { kind: 'gap', bytes: size } : { kind: 'bytes', bytes });
      whole.push(...(isGap ? Array<number>(size).fill(Number.NaN) : bytes));
    }
    const { flac } = await flacFrom({ encoding, sampleRate: 16_000 }, parts);
    const samples = decode(flac);

    const given = decodeSamples(encoding, Uint8Array.from(whole));
    const width = encoding === 'pcm_s16le' ? 2 : 1;
    assert.equal(samples.length, given.length);
    const differ = samples.findIndex((sample, at) => {
      const bytes = whole.slice(width * at, width * (at + 1));
      // A sample of which a half is lost is any.
      if (bytes.some(Number.isNaN)) return bytes.every(Number.isNaN) && sample !== 0;
      return sample !== given[at];
    });
    assert.equal(differ, -1, encoding);
  }
});

test('a gap of hours takes little space', async () => {
  const hours = 4;
  const { flac, bytes } = await flacFrom({ encoding: 'pcm_s16le', sampleRate: 48_000 }, [
    { kind: 'bytes', bytes: new Uint8Array(960).fill(7) },
    { kind: 'gap', bytes: hours * 3_600 * 96_000 },
  ]);

  assert.ok(bytes > 1.3e9 && flac.length < 2.6e6, `${flac.length}`);
});
