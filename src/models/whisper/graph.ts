import type { Ctranslate2Model } from './ctranslate2.ts';
import { type Attributes, constant, node, type Part, tensor } from './onnx-writer.ts';
import { type Quantised, quantiseTransposed, widen, ZERO_POINT } from './quantise.ts';

// Has LayerNormalization.
export const OPERATOR_SET = 17;
const EPSILON = 1e-5;

/**
 * A graph of ONNX that is built step by step. Its weights are read when the graph is written, one at a time.
 * Source of the model: https://github.com/openai/whisper/blob/main/whisper/model.py
 */
export class GraphBuilder {
  readonly nodes: Buffer[] = [];
  readonly model: Ctranslate2Model;
  readonly heads: number;
  /** Channels of the model. */
  readonly channels: number;
  readonly #constants = new Map<string, Part[]>();
  #last: { name: string; quantised: Promise<Quantised> } | null = null;
  #count = 0;

  constructor(model: Ctranslate2Model, size: { heads: number; channels: number }) {
    this.model = model;
    this.heads = size.heads;
    this.channels = size.channels;
  }

  get constants(): Part[][] {
    return [...this.#constants.values()];
  }

  /** One step; its only output, which has this name or a new one. */
  step(operator: string, inputs: readonly string[], attributes: Attributes = {}, name = this.#newName()): string {
    this.nodes.push(node(operator, inputs, name, attributes));
    return name;
  }

  steps(operator: string, inputs: readonly string[], count: number, attributes: Attributes = {}): string[] {
    const names = Array.from({ length: count }, () => this.#newName());
    this.nodes.push(node(operator, inputs, names, attributes));
    return names;
  }

  #newName(): string {
    this.#count += 1;
    return `v${this.#count}`;
  }

  integers(...values: number[]): string {
    const name = `integers ${values.join(' ')}`;
    return this.add(name, () => tensor(name, [values.length], BigInt64Array.from(values.map(BigInt))));
  }

  integer(value: number): string {
    const name = `integer ${value}`;
    return this.add(name, () => tensor(name, [], BigInt64Array.of(BigInt(value))));
  }

  float(value: number): string {
    const name = `float ${value}`;
    return this.add(name, () => tensor(name, [], Float32Array.of(value)));
  }

  add(name: string, make: () => Part[]): string {
    if (!this.#constants.has(name)) this.#constants.set(name, make());
    return name;
  }

  /** A variable of the model as 32-bit floats. */
  weight(name: string): string {
    return this.add(name, () => {
      const dimensions = this.model.dimensionsOf(name);
      const sizeBytes = 4 * dimensions.reduce((product, size) => product * size, 1);
      const read = async () => Buffer.from(widen(await this.model.halfFloats(name)).buffer);
      return constant(name, 'float', dimensions, { sizeBytes, read });
    });
  }

  /** A matrix of the model in 8 bits, transposed, and the scales of its columns. */
  quantised(name: string): { values: string; scales: string } {
    const [rows, columns] = this.model.dimensionsOf(name) as [number, number];
    const part = (sizeBytes: number, key: keyof Quantised): Part => ({
      sizeBytes,
      read: async () => Buffer.from((await this.#quantise(name, rows))[key].buffer),
    });
    return {
      values: this.add(`${name} values`, () =>
        constant(`${name} values`, 'uint8', [columns, rows], part(rows * columns, 'values')),
      ),
      scales: this.add(`${name} scales`, () => constant(`${name} scales`, 'float', [rows], part(4 * rows, 'scales'))),
    };
  }

  /** Keeps the last matrix only: its values and scales are written one after the other. */
  #quantise(name: string, rows: number): Promise<Quantised> {
    if (this.#last?.name !== name) {
      this.#last = { name, quantised: this.model.halfFloats(name).then((halves) => quantiseTransposed(halves, rows)) };
    }
    return this.#last.quantised;
  }

  /** The product of activations and a matrix of the model, both in 8 bits. */
  product(input: string, matrix: string, name?: string): string {
    const [values, scale, zero] = this.steps('DynamicQuantizeLinear', [input], 3) as [string, string, string];
    const weights = this.quantised(matrix);
    const sums = this.step('MatMulInteger', [values, weights.values, zero, this.zeroPoint()]);
    const scales = this.step('Mul', [scale, weights.scales]);
    return this.step('Mul', [this.step('Cast', [sums], { to: 1 }), scales], {}, name);
  }

  zeroPoint(): string {
    return this.add('zero point', () => tensor('zero point', [], Uint8Array.of(ZERO_POINT)));
  }

  linear(input: string, layer: string): string {
    return this.step('Add', [this.product(input, `${layer}/weight`), this.weight(`${layer}/bias`)]);
  }

  normalised(input: string, layer: string): string {
    const inputs = [input, this.weight(`${layer}/gamma`), this.weight(`${layer}/beta`)];
    return this.step('LayerNormalization', inputs, { axis: -1, epsilon: { float: EPSILON } });
  }

  gelu(input: string): string {
    const error = this.step('Erf', [this.step('Mul', [input, this.float(Math.SQRT1_2)])]);
    const product = this.step('Mul', [input, this.step('Add', [error, this.float(1)])]);
    return this.step('Mul', [product, this.float(0.5)]);
  }

  feedForward(input: string, layer: string): string {
    const inner = this.gelu(this.linear(this.normalised(input, `${layer}/layer_norm`), `${layer}/linear_0`));
    return this.step('Add', [input, this.linear(inner, `${layer}/linear_1`)]);
  }

  /** @returns  the output, and the weights by head: [N, heads, queries, keys] */
  attention({ query, key, value, mask }: { query: string; key: string; value: string; mask?: string }) {
    const scaled = this.step('Mul', [query, this.float((this.channels / this.heads) ** -0.5)]);
    const scores = this.step('MatMul', [this.#byHead(scaled, [0, 2, 1, 3]), this.#byHead(key, [0, 2, 3, 1])]);
    const masked = mask === undefined ? scores : this.step('Add', [scores, mask]);
    const weights = this.step('Softmax', [masked], { axis: -1 });
    const mixed = this.step('MatMul', [weights, this.#byHead(value, [0, 2, 1, 3])]);
    const shape = this.integers(0, 0, this.channels);
    return { output: this.step('Reshape', [this.step('Transpose', [mixed], { perm: [0, 2, 1, 3] }), shape]), weights };
  }

  #byHead(input: string, order: number[]): string {
    const shape = this.integers(0, 0, this.heads, this.channels / this.heads);
    return this.step('Transpose', [this.step('Reshape', [input, shape])], { perm: order });
  }
}
