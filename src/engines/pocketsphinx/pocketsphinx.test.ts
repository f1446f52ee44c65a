import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { asked, testConformance, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { childProcesses, isRunning, killChildren } from '../../../test/fixtures/processes/children.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { openLog } from '../../platform/log.ts';
import { type Pcm, SAMPLE_RATE } from '../engine.ts';
import { openPocketsphinx } from './pocketsphinx.ts';
import { findPocketsphinx } from './pocketsphinx-files.ts';
import { wordsOfPath } from './pocketsphinx-words.ts';

const settings = { slots: 2, tools: TEST_TOOLS, log: openLog('silent') };
const sample = samplesOf(readFileSync(new URL('../../../examples/sample.wav', import.meta.url)));
const SPOKEN = /^the sun came up over the hills this morning every word is written down with its time$/;

function samplesOf(wav: Buffer): Pcm {
  return new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));
}

testConformance('pocketsphinx', async () => {
  const engine = openPocketsphinx(settings);
  return {
    engine,
    speech: sample,
    expected: SPOKEN,
    // A piece takes most of a second, which is slow enough.
    stall: () => undefined,
    unstall: () => undefined,
    crash: killChildren,
    processes: () => childProcesses(),
    isRunning,
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
});

test('a word after a long pause has the right times and starts a segment', async () => {
  await using engine = openPocketsphinx({ ...settings, slots: 1 });
  const pauseSeconds = 6;
  const twice = new Int16Array(2 * sample.length + pauseSeconds * SAMPLE_RATE);
  twice.set(sample);
  twice.set(sample, sample.length + pauseSeconds * SAMPLE_RATE);

  const { segments } = await engine.transcribe(twice, asked());

  const second = segments.find((segment) => segment.startSeconds > sample.length / SAMPLE_RATE);
  const shift = sample.length / SAMPLE_RATE + pauseSeconds;
  assert.ok(Math.abs(second!.startSeconds - shift - segments[0]!.startSeconds) < 0.3, JSON.stringify(segments));
});

test('pocketsphinx finds no words in background noise', async () => {
  await using engine = openPocketsphinx({ ...settings, slots: 1 });
  const random = randomFrom(5);
  let held = 0;
  // 40 dB below full scale, mostly low frequencies.
  const noise = Int16Array.from({ length: 3 * SAMPLE_RATE }, () => {
    held = 0.9 * held + (random.next() - 0.5) * 500;
    return held;
  });

  assert.equal(textOf(await engine.transcribe(noise, asked())), '');
});

test('pocketsphinx gives the same transcript for the same piece, whatever pieces came before', async () => {
  await using engine = openPocketsphinx({ ...settings, slots: 1 });

  const first = await engine.transcribe(sample, asked());
  await engine.transcribe(sample.subarray(30_000, 70_000), asked());
  const again = await engine.transcribe(sample, asked());

  assert.deepEqual(again, first);
});

test('the library and the model suffice; the pocketsphinx program is not needed', async () => {
  await using tools = await openTestFolder();
  const found = findPocketsphinx(TEST_TOOLS)!;
  await mkdir(path.join(tools.path, 'lib'));
  await mkdir(path.join(tools.path, 'share/pocketsphinx/model'), { recursive: true });
  await symlink(path.dirname(found.acoustics), path.join(tools.path, 'share/pocketsphinx/model/en-us'));
  for (const library of Object.values(found.library)) {
    await symlink(library, path.join(tools.path, 'lib', path.basename(library)));
  }

  await using engine = openPocketsphinx({ ...settings, slots: 1, tools: { folder: tools.path } });

  assert.match(textOf(await engine.transcribe(sample, asked())), SPOKEN);
});

test('pocketsphinx rejects languages other than English', async () => {
  await using engine = openPocketsphinx({ ...settings, slots: 1 });

  await assert.rejects(engine.transcribe(sample, asked({ language: 'de' })), /knows English only/);
  assert.match(textOf(await engine.transcribe(sample, asked({ language: 'en-GB' }))), SPOKEN);
});

test('the entries of a path become words without fillers and variant numbers', () => {
  const at = { startSeconds: 1, endSeconds: 2, confidence: 1.0001 };
  const path = ['<s>', 'and(2)', '<sil>', '[NOISE]', "don't", '++UH++', '</s>'].map((entry) => ({ entry, ...at }));

  const words = wordsOfPath(path);

  assert.deepEqual(
    words.map((word) => [word.text, word.confidence]),
    [
      ['and', 1],
      ["don't", 1],
    ],
  );
});

test('a tools folder without a complete pocketsphinx falls back to that of the system', async () => {
  await using folder = await openTestFolder();

  // Both are null on a machine without pocketsphinx.
  assert.deepEqual(findPocketsphinx({ folder: folder.path }), findPocketsphinx({ folder: null }));
});
