import { openBlock } from './encoder.ts';
import { type LayerNames, openMemory, UNITS } from './memory.ts';
import { FREQUENCIES, framesIn, openSpectrum } from './spectrum.ts';
import type { Tensors } from './tensors.ts';
import { Workspace } from './workspace.ts';

/** One of the two networks in the file of Silero VAD 4. Some constants have numbers as names there. */
export type Variant = {
  prefix: string;
  /** Samples per decision, which cover 32 ms. */
  window: number;
  blocks: readonly { name: string; reduction: number; stride: number }[];
  memory: readonly LayerNames[];
};

/** Remembers the windows that it was given. */
export type Network = {
  window: number;
  /** Forgets the windows before. */
  reset(): void;
  /** The probability of speech after one more window of samples. @param from  where it begins */
  probability(samples: Float32Array, from: number): number;
};

const MEMORY_BYTES = 2 ** 20;

/** For 16,000 samples per second. */
export const WIDE: Variant = {
  prefix: 'model',
  window: 512,
  blocks: [
    { name: 'first_layer.0', reduction: 1110, stride: 2 },
    { name: 'encoder.3.0', reduction: 1113, stride: 2 },
    { name: 'encoder.7.0', reduction: 1116, stride: 2 },
    { name: 'encoder.11.0', reduction: 1119, stride: 1 },
  ],
  memory: [
    { inputs: 343, recurrent: 345, biases: 347 },
    { inputs: 415, recurrent: 417, biases: 419 },
  ],
};

/** For 8,000 samples per second. */
export const NARROW: Variant = {
  prefix: 'model_8k',
  window: 256,
  blocks: [
    { name: 'first_layer.0', reduction: 1122, stride: 2 },
    { name: 'encoder.3.0', reduction: 1125, stride: 2 },
    { name: 'encoder.7.0', reduction: 1128, stride: 1 },
    { name: 'encoder.11.0', reduction: 1131, stride: 1 },
  ],
  memory: [
    { inputs: 833, recurrent: 835, biases: 837 },
    { inputs: 905, recurrent: 907, biases: 909 },
  ],
};

/**
 * The network with the constants of the file. The steps of its graph are written here: a general library takes three
 * times as long, since a window is a hundred small steps.
 * @throws Error  when the constants are not those of Silero VAD 4
 */
export function openNetwork(tensors: Tensors, { prefix, window, blocks, memory }: Variant): Network {
  const workspace = new Workspace(MEMORY_BYTES, { frequencies: FREQUENCIES, units: UNITS });
  let rows = framesIn(window);
  let channels = 2 * FREQUENCIES;
  const encoder = blocks.map(({ name, reduction, stride }) => {
    const size = { name: `${prefix}.${name}`, reduction, stride, rows, channels };
    const block = openBlock(workspace, tensors, size);
    rows /= stride;
    channels = block.outputs;
    return block;
  });
  const spectrum = openSpectrum(workspace, tensors, { prefix, window, output: encoder[0]!.input });
  const last = openMemory(workspace, tensors, { layers: memory, decoder: `${prefix}.decoder.decoder.1` });
  const inputs = [...encoder.map(({ input }) => input), { at: last.input, stride: 0 }];
  return {
    window,
    reset: last.reset,
    probability: (samples, from) => {
      spectrum(samples, from);
      for (const [index, { run }] of encoder.entries()) run(inputs[index + 1]!);
      return last.probability();
    },
  };
}
