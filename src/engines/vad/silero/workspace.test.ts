import assert from 'node:assert/strict';
import test from 'node:test';
import { type Random, randomFrom } from '../../../../test/fixtures/random.ts';
import { TAPS } from './kernels.ts';
import { type Rows, Workspace } from './workspace.ts';

const SEED = 20_261_129;
const FREQUENCIES = 129;
const UNITS = 64;
const SIZE_BYTES = 2 ** 18;

function open() {
  const workspace = new Workspace(SIZE_BYTES, { frequencies: FREQUENCIES, units: UNITS });
  return { workspace, random: randomFrom(SEED) };
}

function values(random: Random, count: number): Float32Array {
  return Float32Array.from({ length: count }, () => 2 * random.next() - 1);
}

function put(workspace: Workspace, content: Float32Array, stride = content.length): Rows {
  const at = workspace.take(content.length);
  workspace.floats.set(content, at);
  return { at, stride };
}

function assertNear(found: Float32Array, expected: number[]): void {
  assert.equal(found.length, expected.length);
  for (const [at, value] of expected.entries()) {
    assert.ok(
      Math.abs(found[at]! - value) <= 2e-5 * Math.max(1, Math.abs(value)),
      `${found[at]} is not ${value}: ${at}`,
    );
  }
}

const DENSE = [
  { inputs: 33, outputs: 24, rows: 8, isRectified: false },
  { inputs: 33, outputs: 24, rows: 4, isRectified: true },
  { inputs: 7, outputs: 64, rows: 1, isRectified: false },
  { inputs: 7, outputs: 48, rows: 2, isRectified: true },
];

for (const size of DENSE) {
  const { inputs, outputs, rows, isRectified } = size;
  test(`${rows} rows of ${inputs} values give ${outputs} each${isRectified ? ', none below 0' : ''}`, () => {
    const { workspace, random } = open();
    const [weights, biases, given] = [inputs * outputs, outputs, inputs * rows].map((count) => values(random, count));
    const layer = workspace.dense(
      size,
      (output, input) => weights![output * inputs + input]!,
      (output) => biases![output]!,
    );
    const output = workspace.rows(rows, outputs);

    workspace.runDense(layer, put(workspace, given!, inputs), output);

    const expected = Array.from({ length: rows * outputs }, (_, at) => {
      const [row, one] = [Math.floor(at / outputs), at % outputs];
      const products = Array.from(
        { length: inputs },
        (_, i) => given![row * inputs + i]! * weights![one * inputs + i]!,
      );
      const sum = products.reduce((total, product) => total + product, biases![one]!);
      return isRectified ? Math.max(0, sum) : sum;
    });
    assertNear(workspace.floats.subarray(output.at, output.at + rows * outputs), expected);
  });
}

test('each channel is convolved by itself', () => {
  const { workspace, random } = open();
  const [channels, rows] = [12, 3];
  const [weights, biases] = [channels * TAPS, channels].map((count) => values(random, count));
  const given = values(random, (rows + TAPS - 1) * channels);
  const layer = workspace.depthwise(
    { channels, rows },
    (channel, tap) => weights![channel * TAPS + tap]!,
    (channel) => biases![channel]!,
  );
  const { at, stride } = put(workspace, given, channels);
  const output = workspace.take(rows * channels);

  workspace.runDepthwise(layer, { at: at + 2 * stride, stride }, output);

  const expected = Array.from({ length: rows * channels }, (_, index) => {
    const channel = index % channels;
    const products = Array.from(
      { length: TAPS },
      (_, tap) => given[index + tap * channels]! * weights![channel * TAPS + tap]!,
    );
    return Math.max(
      0,
      products.reduce((total, product) => total + product, biases![channel]!),
    );
  });
  assertNear(workspace.floats.subarray(output, output + rows * channels), expected);
});

test('a spectrum has magnitudes, then their logarithms, from silence to full scale', () => {
  const { workspace, random } = open();
  const [rows, stride] = [3, 136];
  const [real, imaginary] = [0, 1].map(() =>
    values(random, rows * stride).map((value) => value * 10 ** Math.floor(12 * random.next() - 9)),
  );
  real!.fill(0, 0, 9);
  imaginary!.fill(0, 0, 9);
  const output = workspace.rows(rows, 264);

  workspace.runSpectrum(rows, put(workspace, real!, stride), put(workspace, imaginary!, stride), output);

  for (let row = 0; row < rows; row += 1) {
    const magnitudes = Array.from({ length: FREQUENCIES }, (_, at) =>
      Math.hypot(real![row * stride + at]!, imaginary![row * stride + at]!),
    );
    const from = output.at + row * output.stride;
    const found = workspace.floats.subarray(from, from + 2 * FREQUENCIES);
    assertNear(found, [...magnitudes, ...magnitudes.map((magnitude) => Math.log1p(2 ** 20 * magnitude))]);
  }
});

test('gates choose between what was remembered and what is new, for sums of any size', () => {
  const { workspace, random } = open();
  const sums = values(random, 4 * UNITS).map((value) => value * 10 ** Math.floor(5 * random.next() - 1));
  const old = values(random, UNITS);
  const remembered = put(workspace, old).at;
  const output = workspace.take(UNITS);

  workspace.runGates(UNITS, put(workspace, sums).at, remembered, output);

  const sigmoid = (value: number) => 1 / (1 + Math.exp(-value));
  const gate = (number: number, unit: number) => sums[number * UNITS + unit]!;
  const kept = Array.from(old, (value, unit) => {
    return sigmoid(gate(2, unit)) * value + sigmoid(gate(0, unit)) * Math.tanh(gate(3, unit));
  });
  assertNear(workspace.floats.subarray(remembered, remembered + UNITS), kept);
  const given = kept.map((value, unit) => sigmoid(gate(1, unit)) * Math.tanh(value));
  assertNear(workspace.floats.subarray(output, output + UNITS), given);
});

test('no more memory is taken than there is', () => {
  const { workspace } = open();

  assert.throws(() => workspace.take(SIZE_BYTES), /larger than its memory/);
});
