import { LOGARITHM_VECTORS, SIGMOID_VECTORS, setLogarithm, setSigmoid } from './arithmetic.ts';
import {
  advance,
  assemble,
  type Code,
  each,
  floats,
  get,
  integer,
  type Kernel,
  load,
  maximum,
  multiply,
  multiplyAdd,
  plus,
  repeat,
  set,
  spread,
  squareRoot,
  store,
  times,
} from './wasm.ts';

/** Rows that a depthwise convolution sums, from two before. */
export const TAPS = 5;
/** How many rows and how many vectors of outputs a dense kernel computes at once: their sums stay in registers. */
export const TILES = {
  plain: { rows: 4, vectors: 2, isRectified: false },
  plainRow: { rows: 1, vectors: 8, isRectified: false },
  rectified: { rows: 4, vectors: 2, isRectified: true },
  rectifiedRow: { rows: 1, vectors: 4, isRectified: true },
};

/** Functions over one memory. Positions are addresses in bytes, of multiples of 16; strides are in bytes. */
export type Kernels = Record<keyof typeof TILES, Dense> & { depthwise: Depthwise; spectrum: Spectrum; gates: Gates };
/** `outputBlocks` and `rowBlocks` count tiles. */
type Dense = (
  ...[output, input, weights, bias, inputs, outputBlocks, rowBlocks, inputStride, outputStride]: Nine
) => void;
type Nine = [number, number, number, number, number, number, number, number, number];
/** `blocks` counts vectors of channels. */
type Depthwise = (...[output, input, weights, bias, blocks, rows, stride]: Seven) => void;
type Four = [number, number, number, number];
type Five = [number, number, number, number, number];
type Six = [number, number, number, number, number, number];
type Seven = [number, number, number, number, number, number, number];
type Spectrum = (...[output, real, imaginary, rows, inputStride, outputStride]: Six) => void;
/** `blocks` counts vectors of units. */
type Gates = (...[output, remembered, sums, blocks]: Four) => void;

const FLOAT = Float32Array.BYTES_PER_ELEMENT;
const VECTOR = 4 * FLOAT;

/** What a network has of each. */
export type Sizes = { frequencies: number; units: number };

export function openKernels(memory: WebAssembly.Memory, { frequencies, units }: Sizes): Kernels {
  const denseKernels = Object.entries(TILES).map(([name, tile]) => [name, dense(tile)]);
  const module = assemble({
    ...Object.fromEntries(denseKernels),
    depthwise: depthwise(),
    spectrum: spectrum(frequencies),
    gates: gates(units),
  });
  return new WebAssembly.Instance(module, { memory: { floats: memory } }).exports as Kernels;
}

/**
 * Of each row of the input, for each output: the bias plus the inputs by their weights. The weights of a tile's outputs
 * follow each other, for one input after the other.
 */
function dense({ rows, vectors, isRectified }: (typeof TILES)['plain']): Kernel {
  const parameters = 9;
  const [output, input, weights, bias, inputs, outputBlocks, rowBlocks, inputStride, outputStride] = range<Nine>(
    0,
    parameters,
  );
  const [rowsLeft, blocksLeft, inputsLeft, weightAt, biasAt, blockAt, outputAt] = range<Seven>(parameters, 7);
  const inputAt = (row: number) => parameters + 7 + row;
  const vectorsFrom = inputAt(rows);
  const sum = (row: number, vector: number) => vectorsFrom + row * vectors + vector;
  const weight = (vector: number) => sum(rows, vector);
  const value = weight(vectors);
  const zero = value + 1;
  const result = (of: Code) => (isRectified ? maximum(of, get(zero)) : of);

  const addInput = [
    ...each(vectors, (vector) => set(weight(vector), load(weightAt, vector * VECTOR))),
    ...each(rows, (row) => [
      ...set(value, spread(inputAt(row))),
      ...each(vectors, (vector) =>
        set(sum(row, vector), multiplyAdd(get(value), get(weight(vector)), get(sum(row, vector)))),
      ),
      ...advance(inputAt(row), integer(FLOAT)),
    ]),
    ...advance(weightAt, integer(vectors * VECTOR)),
  ];
  const computeTile = [
    ...each(rows, (row) => [
      ...set(inputAt(row), plus(get(input), times(get(inputStride), integer(row)))),
      ...each(vectors, (vector) => set(sum(row, vector), load(biasAt, vector * VECTOR))),
    ]),
    ...set(inputsLeft, get(inputs)),
    ...repeat(inputsLeft, addInput),
    ...set(outputAt, get(blockAt)),
    ...each(rows, (row) => [
      ...each(vectors, (vector) => store(outputAt, result(get(sum(row, vector))), vector * VECTOR)),
      ...advance(outputAt, get(outputStride)),
    ]),
    ...each(2, (at) => advance([blockAt, biasAt][at]!, integer(vectors * VECTOR))),
  ];
  const body = [
    ...set(rowsLeft, get(rowBlocks)),
    ...repeat(rowsLeft, [
      ...set(blocksLeft, get(outputBlocks)),
      ...set(weightAt, get(weights)),
      ...set(biasAt, get(bias)),
      ...set(blockAt, get(output)),
      ...repeat(blocksLeft, computeTile),
      ...advance(input, times(get(inputStride), integer(rows))),
      ...advance(output, times(get(outputStride), integer(rows))),
    ]),
  ];
  return { parameters, integers: 7 + rows, vectors: (rows + 1) * vectors + 2, body };
}

/** Of each channel by itself: the bias plus the rows around by their weights; 0 where that is less. */
function depthwise(): Kernel {
  const parameters = 7;
  const [output, input, weights, bias, blocks, rows, stride] = range<Seven>(0, parameters);
  const [rowsLeft, blocksLeft, weightAt, biasAt, outputAt] = range<Five>(parameters, 5);
  const inputAt = (tap: number) => parameters + 5 + tap;
  const [sum, zero] = [inputAt(TAPS), inputAt(TAPS) + 1];

  const computeBlock = [
    ...set(sum, load(biasAt)),
    ...each(TAPS, (tap) => [
      ...set(sum, multiplyAdd(load(inputAt(tap)), load(weightAt, tap * VECTOR), get(sum))),
      ...advance(inputAt(tap), integer(VECTOR)),
    ]),
    ...store(outputAt, maximum(get(sum), get(zero))),
    ...advance(weightAt, integer(TAPS * VECTOR)),
    ...each(2, (at) => advance([biasAt, outputAt][at]!, integer(VECTOR))),
  ];
  const body = [
    ...set(rowsLeft, get(rows)),
    ...repeat(rowsLeft, [
      ...each(TAPS, (tap) => set(inputAt(tap), plus(get(input), times(get(stride), integer(tap - (TAPS >> 1)))))),
      ...set(blocksLeft, get(blocks)),
      ...set(weightAt, get(weights)),
      ...set(biasAt, get(bias)),
      ...set(outputAt, get(output)),
      ...repeat(blocksLeft, computeBlock),
      ...each(2, (at) => advance([input, output][at]!, get(stride))),
    ]),
  ];
  return { parameters, integers: 5 + TAPS, vectors: 2, body };
}

/**
 * Of each row of real parts and of imaginary parts: the magnitudes, and behind them
 * log(1 + 2 ** 20 * magnitude). The last vectors come first, since they end behind the last frequency.
 */
function spectrum(frequencies: number): Kernel {
  const parameters = 6;
  const [output, real, imaginary, rows, inputStride, outputStride] = range<Six>(0, parameters);
  const [rowsLeft, blocksLeft, realAt, imaginaryAt, outputAt] = range<Five>(parameters, 5);
  const [magnitude, other, logarithm, ...scratch] = range<Five>(parameters + 5, 3 + LOGARITHM_VECTORS);
  const half = frequencies * FLOAT;
  const blocks = Math.ceil(half / VECTOR);

  const computeBlock = [
    ...set(magnitude, load(realAt)),
    ...set(other, load(imaginaryAt)),
    ...set(magnitude, squareRoot(multiplyAdd(get(magnitude), get(magnitude), multiply(get(other), get(other))))),
    ...store(outputAt, get(magnitude)),
    ...setLogarithm(logarithm, scratch, multiplyAdd(get(magnitude), floats(2 ** 20), floats(1))),
    ...store(outputAt, get(logarithm), half),
    ...each(3, (at) => advance([realAt, imaginaryAt, outputAt][at]!, integer(-VECTOR))),
  ];
  const lastOf = (row: number) => plus(get(row), integer((blocks - 1) * VECTOR));
  const body = [
    ...set(rowsLeft, get(rows)),
    ...repeat(rowsLeft, [
      ...set(blocksLeft, integer(blocks)),
      ...set(realAt, lastOf(real)),
      ...set(imaginaryAt, lastOf(imaginary)),
      ...set(outputAt, lastOf(output)),
      ...repeat(blocksLeft, computeBlock),
      ...each(2, (at) => advance([real, imaginary][at]!, get(inputStride))),
      ...advance(output, get(outputStride)),
    ]),
  ];
  return { parameters, integers: 5, vectors: 3 + LOGARITHM_VECTORS, body };
}

/**
 * Of the sums of a layer's units, for its four gates: what the layer gives and remembers. They are for its input, its
 * output and what it remembered, and a new value.
 */
function gates(units: number): Kernel {
  const parameters = 4;
  const [output, remembered, sums, blocks] = range<Four>(0, parameters);
  const [value, old, part, ...scratch] = range<Six>(parameters, 3 + SIGMOID_VECTORS);
  const gate = (at: number) => load(sums, at * units * FLOAT);
  const setTanh = (vector: number, of: Code) => [
    ...setSigmoid(vector, scratch, multiply(of, floats(2))),
    ...set(vector, multiplyAdd(get(vector), floats(2), floats(-1))),
  ];

  const computeBlock = [
    ...setSigmoid(part, scratch, gate(0)),
    ...setTanh(value, gate(3)),
    ...set(value, multiply(get(value), get(part))),
    ...setSigmoid(old, scratch, gate(2)),
    ...set(value, multiplyAdd(get(old), load(remembered), get(value))),
    ...store(remembered, get(value)),
    ...setTanh(value, get(value)),
    ...setSigmoid(part, scratch, gate(1)),
    ...store(output, multiply(get(value), get(part))),
    ...each(3, (at) => advance([output, remembered, sums][at]!, integer(VECTOR))),
  ];
  return { parameters, integers: 0, vectors: 3 + SIGMOID_VECTORS, body: repeat(blocks, computeBlock) };
}

function range<Numbers extends number[]>(from: number, count: number): Numbers {
  return Array.from({ length: count }, (_, at) => from + at) as Numbers;
}
