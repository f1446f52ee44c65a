import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../test/fixtures/audio/tone/speech.ts';
import { TEST_TOOLS } from '../../test/fixtures/tools.ts';
import { type Pcm, SAMPLE_RATE } from '../engines/engine.ts';
import { AudioError } from './audio-error.ts';
import { decodePcm } from './decode/decode.ts';
import { encodeOpus } from './encode-opus.ts';

const BOUNDS = { tools: TEST_TOOLS, maxAudioSeconds: 60 };
const options = (signal = new AbortController().signal) => ({ ...BOUNDS, signal });

async function* chunksOf(pcm: Pcm): AsyncGenerator<Pcm> {
  for (let at = 0; at < pcm.length; at += 4_000) yield pcm.subarray(at, at + 4_000);
}

test('what is encoded has the length and the sound of the samples, and the same bytes each time', async () => {
  await using folder = await openTestFolder();
  const pcm = toneSpeech('hello quiet world');

  const [first, second] = await Promise.all([0, 1].map(() => Array.fromAsync(encodeOpus(chunksOf(pcm), options()))));
  const file = await folder.write('a.opus', Buffer.concat(first!));
  const decoded = await Array.fromAsync(decodePcm(file, options()));

  assert.equal(Buffer.concat(first!).toString('latin1', 0, 4), 'OggS');
  assert.deepEqual(Buffer.concat(second!), Buffer.concat(first!));
  const samples = decoded.flatMap((chunk) => [...chunk]);
  assert.ok(Math.abs(samples.length - pcm.length) < 0.02 * SAMPLE_RATE, `${samples.length} of ${pcm.length} samples`);
  const power = (all: Iterable<number>) => Array.from(all).reduce((sum, sample) => sum + sample ** 2, 0);
  assert.ok(power(samples) > 0.5 * power(pcm));
});

test('an error of the decoder ends the encoding, and is what is thrown', async () => {
  async function* damaged(): AsyncGenerator<Pcm> {
    yield new Int16Array(SAMPLE_RATE);
    throw new AudioError('damaged');
  }

  await assert.rejects(Array.fromAsync(encodeOpus(damaged(), options())), AudioError);
});

test('who hangs up ends the encoding and the decoding', async () => {
  const hangUp = new AbortController();
  const isOver = Promise.withResolvers<void>();
  async function* endless(): AsyncGenerator<Pcm> {
    try {
      while (true) yield new Int16Array(SAMPLE_RATE);
    } finally {
      isOver.resolve();
    }
  }
  const encoding = encodeOpus(endless(), options(hangUp.signal));
  await encoding.next();

  hangUp.abort(new Error('hung up'));

  await assert.rejects(async () => {
    for await (const _ of encoding);
  }, /hung up/);
  await isOver.promise;
});

test('each format that no browser plays becomes one that all do', async () => {
  await using folder = await openTestFolder();
  const pcm = toneSpeech('hello');
  const formats = [
    ['gsm.wav', '-c:a', 'libgsm_ms', '-ar', '8000'],
    ['adpcm.wav', '-c:a', 'adpcm_ima_wav'],
    ['a.aiff'],
    ['a.caf'],
    ['a.wma'],
    ['alac.m4a', '-c:a', 'alac'],
  ];
  for (const [name, ...encoding] of formats) {
    const file = await folder.encode(name!, pcm, ...encoding);
    const bytes = Buffer.concat(await Array.fromAsync(encodeOpus(decodePcm(file, options()), options())));
    assert.ok(bytes.length > 1_000, path.basename(file));
  }
});
