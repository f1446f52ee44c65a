import { type Kernels, openKernels, type Sizes, TAPS, TILES } from './kernels.ts';

const PAGE_BYTES = 2 ** 16;
const FLOAT = Float32Array.BYTES_PER_ELEMENT;
const VECTOR = 4;

/** Where floats are in the memory; a number of floats, a multiple of 4. */
export type Position = number;
/** Rows of floats; `stride` is from the start of one to the start of the next. */
export type Rows = { at: Position; stride: number };
/** A layer whose outputs depend on all inputs of a row. */
export type Dense = { tile: keyof typeof TILES; inputs: number; outputs: number; rows: number } & Weights;
/** A layer whose outputs depend on one channel of several rows. */
export type Depthwise = { channels: number; rows: number } & Weights;
type Weights = { weights: Position; bias: Position };

/** The memory of a network: its weights in the order in which the kernels read them, and its values. */
export class Workspace {
  readonly floats: Float32Array;
  readonly #kernels: Kernels;
  #used = 0;

  constructor(sizeBytes: number, sizes: Sizes) {
    const memory = new WebAssembly.Memory({ initial: Math.ceil(sizeBytes / PAGE_BYTES) });
    this.floats = new Float32Array(memory.buffer);
    this.#kernels = openKernels(memory, sizes);
  }

  /** Room for so many floats, which are 0. */
  take(count: number): Position {
    const at = this.#used;
    this.#used += Math.ceil(count / VECTOR) * VECTOR;
    if (this.#used > this.floats.length) throw new Error('The network is larger than its memory.');
    return at;
  }

  rows(count: number, stride: number): Rows {
    return { at: this.take(count * stride), stride };
  }

  /** @param size  `isRectified`: outputs below 0 become 0 */
  dense(
    size: { inputs: number; outputs: number; rows: number; isRectified: boolean },
    weightOf: (output: number, input: number) => number,
    biasOf: (output: number) => number,
  ): Dense {
    const { inputs, outputs, rows, isRectified } = size;
    const isTiled = rows % TILES.plain.rows === 0;
    const tile = isRectified ? (isTiled ? 'rectified' : 'rectifiedRow') : isTiled ? 'plain' : 'plainRow';
    const width = TILES[tile].vectors * VECTOR;
    const weights = this.take(inputs * outputs);
    for (let output = 0; output < outputs; output += 1) {
      const tileAt = weights + (output - (output % width)) * inputs + (output % width);
      for (let input = 0; input < inputs; input += 1) this.floats[tileAt + input * width] = weightOf(output, input);
    }
    return { tile, inputs, outputs, rows, weights, bias: this.#store(outputs, biasOf) };
  }

  depthwise(
    { channels, rows }: { channels: number; rows: number },
    weightOf: (channel: number, tap: number) => number,
    biasOf: (channel: number) => number,
  ): Depthwise {
    const weights = this.#store(channels * TAPS, (at) => {
      const [block, tap] = [Math.floor(at / VECTOR / TAPS), Math.floor(at / VECTOR) % TAPS];
      return weightOf(block * VECTOR + (at % VECTOR), tap);
    });
    return { channels, rows, weights, bias: this.#store(channels, biasOf) };
  }

  runDense({ tile, inputs, outputs, rows, weights, bias }: Dense, input: Rows, output: Rows): void {
    const { rows: tileRows, vectors } = TILES[tile];
    this.#kernels[tile](
      output.at * FLOAT,
      input.at * FLOAT,
      weights * FLOAT,
      bias * FLOAT,
      inputs,
      outputs / (vectors * VECTOR),
      rows / tileRows,
      input.stride * FLOAT,
      output.stride * FLOAT,
    );
  }

  /** Reads two rows before the first and two after the last. */
  runDepthwise({ channels, rows, weights, bias }: Depthwise, input: Rows, output: Position): void {
    this.#kernels.depthwise(
      output * FLOAT,
      input.at * FLOAT,
      weights * FLOAT,
      bias * FLOAT,
      channels / VECTOR,
      rows,
      input.stride * FLOAT,
    );
  }

  /** Magnitudes and their logarithms. The rows of real and imaginary parts have the same stride. */
  runSpectrum(rows: number, real: Rows, imaginary: Rows, output: Rows): void {
    this.#kernels.spectrum(
      output.at * FLOAT,
      real.at * FLOAT,
      imaginary.at * FLOAT,
      rows,
      real.stride * FLOAT,
      output.stride * FLOAT,
    );
  }

  runGates(units: number, sums: Position, remembered: Position, output: Position): void {
    this.#kernels.gates(output * FLOAT, remembered * FLOAT, sums * FLOAT, units / VECTOR);
  }

  #store(count: number, of: (at: number) => number): Position {
    const from = this.take(count);
    for (let at = 0; at < count; at += 1) this.floats[from + at] = of(at);
    return from;
  }
}
