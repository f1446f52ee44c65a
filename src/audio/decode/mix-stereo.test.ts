import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type Pcm, SAMPLE_RATE } from '../../engines/engine.ts';
import { StereoMixer } from './mix-stereo.ts';

const random = randomFrom(7);
const noise = (seconds: number, peak = 10_000): Pcm =>
  Int16Array.from({ length: seconds * SAMPLE_RATE }, () => random.integer(2 * peak) - peak);
const times = (pcm: Pcm, factor: number): Pcm => pcm.map((sample) => Math.round(sample * factor));

function mix(...sides: [Pcm, Pcm]): Pcm {
  const [left, right] = sides;
  const samples = Int16Array.from({ length: 2 * left.length }, (_, at) => (at % 2 === 0 ? left : right)[at >> 1]!);
  return new StereoMixer().mix({ channels: 2, samples });
}

/** Arrays of this size are too long for the difference that `deepEqual` shows. */
function assertSame(mixed: Pcm, expected: Pcm): void {
  assert.equal(mixed.length, expected.length);
  const differs = mixed.findIndex((sample, at) => sample !== expected[at]);
  assert.equal(differs, -1, `sample ${differs} is ${mixed[differs]}, not ${expected[differs]}`);
}

const power = (pcm: Pcm) => pcm.reduce((sum, sample) => sum + sample * sample, 0) / pcm.length;

test('two sides are mixed to their mean', () => {
  const [left, right] = [noise(1), noise(1)];

  const mixed = mix(left, right);

  assertSame(
    mixed,
    left.map((sample, at) => (sample + right[at]!) / 2),
  );
});

test('of sides with opposite phase the louder one is taken', () => {
  const left = noise(2);

  assertSame(mix(left, times(left, -1)), left);
  assertSame(mix(times(left, -0.8), left), left);
});

test('sides that a codec left a little different are taken for opposite', () => {
  const left = noise(2);
  const hiss = noise(2, 500);

  const mixed = mix(
    left,
    left.map((sample, at) => hiss[at]! - 0.9 * sample),
  );

  assertSame(mixed, left);
});

test('sound on one side, and sound that is only weaker on the other, keeps at least a quarter of its power', () => {
  const left = noise(2);

  for (const factor of [0, 0.5, 1, -0.3]) {
    assert.ok(power(mix(left, times(left, factor))) >= power(left) * 0.12, String(factor));
  }
});

test('the phase is judged anew where it changes, and a pause changes nothing', () => {
  const [first, second] = [noise(1), noise(1)];
  const pause = new Int16Array(SAMPLE_RATE);
  const left = Int16Array.from([...first, ...pause, ...second]);
  const right = Int16Array.from([...times(first, -1), ...pause, ...second]);

  assertSame(mix(left, right), left);
});

test('one channel stays as it is', () => {
  const samples = noise(1);

  assert.equal(new StereoMixer().mix({ channels: 1, samples }), samples);
});
