import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { testLiveConformance } from '../../../test/fixtures/live-conformance.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { openLog } from '../../platform/log.ts';
import { CepstralMean } from './cepstral-mean.ts';
import { openPocketsphinxLive } from './pocketsphinx-live.ts';

const wav = readFileSync(new URL('../../../examples/sample.wav', import.meta.url));
const sample = new Int16Array(wav.buffer.slice(wav.byteOffset + 44, wav.byteOffset + wav.length));

testLiveConformance('pocketsphinx', async () => {
  const engine = openPocketsphinxLive({ tools: TEST_TOOLS, log: openLog('silent') }, 1);
  return {
    engine,
    speech: sample,
    expected: /^the sun came up over the hills this morning every word is written down with its time$/,
    cut: { seconds: 2.5, expected: /^the sun came up over the hills this morning$/ },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  };
});

test('the mean of what came before speech counts only where nothing else is known', () => {
  const quiet = new Float32Array([1, 1]);
  const loud = new Float32Array([9, 3]);
  const mean = new CepstralMean(2);
  const first = Array.from({ length: 79 }, (_, at) => mean.push(at < 30 ? quiet : loud)).flat();

  const ready = mean.push(loud);

  assert.deepEqual(first, []);
  assert.deepEqual([ready.length, [...ready[0]!], [...ready[79]!]], [80, [-8, -2], [0, 0]]);
  const short = new CepstralMean(2);
  for (let at = 0; at < 10; at++) short.push(quiet);
  assert.deepEqual([...short.end()[9]!], [0, 0]);
});

test('the frames of a segment do not depend on what follows them by more than a step', () => {
  const random = randomFrom(3);
  const frames = Array.from({ length: 300 }, () => new Float32Array([random.next(), random.next()]));
  const [whole, part] = [new CepstralMean(2), new CepstralMean(2)];

  const all = frames.flatMap((frame) => whole.push(frame));
  const some = frames.slice(0, 200).flatMap((frame) => part.push(frame));

  assert.deepEqual(some, all.slice(0, 200));
});
