import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { openTestFolder } from '../../test/fixtures/audio/test-audio.ts';
import { randomFrom } from '../../test/fixtures/random.ts';
import { TEST_TOOLS } from '../../test/fixtures/tools.ts';
import { decodePcm } from '../audio/media/decode.ts';
import type { Pcm } from './engine.ts';
import { SAMPLE_RATE } from './engine.ts';
import { flacFile } from './flac-file.ts';
import { wavFile } from './wav-file.ts';

const sampleWav = readFileSync(new URL('../../examples/sample.wav', import.meta.url));
const speech = new Int16Array(
  sampleWav.buffer.slice(sampleWav.byteOffset + 44, sampleWav.byteOffset + sampleWav.length),
);

async function decoded(file: string): Promise<Pcm> {
  const chunks = await Array.fromAsync(decodePcm(file, { tools: TEST_TOOLS, maxAudioSeconds: 100 }));
  return Int16Array.from(chunks.flatMap((chunk) => [...chunk]));
}

const random = randomFrom(20_261_121);
const AUDIO: [string, Pcm][] = [
  ['speech', speech],
  ['a whole number of blocks', speech.slice(0, 3 * 4096)],
  ['one sample', Int16Array.of(-7)],
  ['three samples', Int16Array.of(1, -32_768, 32_767)],
  ['one sample more than a block', speech.slice(0, 4097)],
  ['silence', new Int16Array(10_000)],
  ['full scale noise', Int16Array.from({ length: 20_000 }, () => random.next() * 65_536 - 32_768)],
  ['full scale square waves', Int16Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? 32_767 : -32_768))],
  ['clicks in silence', Int16Array.from({ length: 20_000 }, (_, at) => (at % 1000 === 0 ? -32_768 : 0))],
  [
    'half a minute',
    Int16Array.from({ length: 30 * SAMPLE_RATE }, (_, at) => 9000 * Math.sin(at / 11) + 90 * random.next()),
  ],
];

for (const [what, pcm] of AUDIO) {
  test(`${what} comes out of the FLAC file as it went in`, async () => {
    await using folder = await openTestFolder();

    const file = await folder.write('audio.flac', flacFile(pcm));

    assert.deepEqual(await decoded(file), pcm);
  });
}

test('speech takes less than two thirds of its wav file', () => {
  assert.ok(flacFile(speech).length < wavFile(speech).length * 0.667, `${flacFile(speech).length}`);
});
