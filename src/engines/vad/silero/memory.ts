import { constantOf, type Tensors } from './tensors.ts';
import type { Position, Workspace } from './workspace.ts';

/** Values that a layer gives and remembers. */
export const UNITS = 64;
/** Each unit has gates for its input, its output and what it remembers, and a new value, in this order. */
const SUMS = 4 * UNITS;

/** Constants of a long short-term memory. */
export type LayerNames = { inputs: number; recurrent: number; biases: number };
type Layer = { input: Position; remembered: Position; compute(): void };

/** The last step: what is remembered of windows, and the probability that follows. */
export type Memory = {
  /** What it is given. */
  input: Position;
  reset(): void;
  probability(): number;
};

/** @param decoder  the start of the names of the constants that turn what is remembered into a probability */
export function openMemory(
  workspace: Workspace,
  tensors: Tensors,
  { layers, decoder }: { layers: readonly LayerNames[]; decoder: string },
): Memory {
  const { floats } = workspace;
  const weights = constantOf(tensors, `${decoder}.weight`);
  const [bias] = constantOf(tensors, `${decoder}.bias`);
  const opened = layers.map((names) => openLayer(workspace, tensors, names));
  const last = opened.at(-1)!;

  return {
    input: opened[0]!.input,
    reset: () => {
      for (const { input, remembered } of opened) {
        floats.fill(0, input, input + 2 * UNITS);
        floats.fill(0, remembered, remembered + UNITS);
      }
    },
    probability: () => {
      for (const [index, { input, compute }] of opened.entries()) {
        compute();
        const next = opened[index + 1];
        if (next) floats.copyWithin(next.input, input + UNITS, input + 2 * UNITS);
      }
      let sum = bias!;
      for (let unit = 0; unit < UNITS; unit += 1)
        sum += weights[unit]! * Math.max(0, floats[last.input + UNITS + unit]!);
      return 1 / (1 + Math.exp(-sum));
    },
  };
}

/** What it gives stands behind what it is given: both are inputs of the next time. */
function openLayer(workspace: Workspace, tensors: Tensors, names: LayerNames): Layer {
  const [inputs, recurrent, biases] = [names.inputs, names.recurrent, names.biases].map((name) =>
    constantOf(tensors, name),
  );
  const input = workspace.take(2 * UNITS);
  const sums = workspace.take(SUMS);
  const remembered = workspace.take(UNITS);
  const gates = workspace.dense(
    { inputs: 2 * UNITS, outputs: SUMS, rows: 1, isRectified: false },
    (sum, at) => (at < UNITS ? inputs![sum * UNITS + at]! : recurrent![sum * UNITS + at - UNITS]!),
    (sum) => biases![sum]! + biases![SUMS + sum]!,
  );

  function compute(): void {
    workspace.runDense(gates, { at: input, stride: 0 }, { at: sums, stride: 0 });
    workspace.runGates(UNITS, sums, remembered, input + UNITS);
  }

  return { input, remembered, compute };
}
