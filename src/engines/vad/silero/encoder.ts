import { TAPS } from './kernels.ts';
import { constantOf, type Tensors } from './tensors.ts';
import type { Rows, Workspace } from './workspace.ts';

/** Rows of zeros around what a block is given: its convolution reads them. */
const MARGIN = TAPS >> 1;
const VECTOR = 4;

export type Block = {
  /** What the block is given. */
  input: Rows;
  outputs: number;
  run(output: Rows): void;
};

/**
 * A block of the encoder: a convolution of each channel, a layer that mixes channels and adds what the block was given,
 * and a layer that keeps one of `stride` rows. Nothing is below 0 after any of them.
 */
export function openBlock(
  workspace: Workspace,
  tensors: Tensors,
  block: { name: string; reduction: number; stride: number; rows: number; channels: number },
): Block {
  const { name, reduction, stride, rows, channels } = block;
  const constant = (part: string) => constantOf(tensors, `${name}.${part}`);
  const [own, ownBias] = [constant('dw_conv.0.weight'), constant('dw_conv.0.bias')];
  const [mixing, mixingBias] = [constant('pw_conv.0.weight'), constant('pw_conv.0.bias')];
  const given = tensors.has(`${name}.proj.weight`) ? constant('proj.weight') : null;
  const givenBias = given && constant('proj.bias');
  const [reducing, reducingBias] = [constantOf(tensors, reduction), constantOf(tensors, reduction + 1)];
  const outputs = mixingBias.length;

  // A row holds what the block is given, then its convolution: one layer mixes and adds both.
  const half = Math.ceil(channels / VECTOR) * VECTOR;
  const stored = workspace.take((rows + 2 * MARGIN) * 2 * half);
  const input: Rows = { at: stored + MARGIN * 2 * half, stride: 2 * half };
  const mixed: Rows = { at: workspace.take(rows * outputs), stride: outputs };
  const convolution = workspace.depthwise(
    { channels: half, rows },
    (channel, tap) => own[channel * TAPS + tap] ?? 0,
    (channel) => ownBias[channel] ?? 0,
  );
  const weightOfGiven = (output: number, channel: number) =>
    given === null ? Number(output === channel) : given[output * channels + channel]!;
  const mix = workspace.dense(
    { inputs: 2 * half, outputs, rows, isRectified: true },
    (output, at) => {
      const channel = at % half;
      if (channel >= channels) return 0;
      return at < half ? weightOfGiven(output, channel) : mixing[output * channels + channel]!;
    },
    (output) => mixingBias[output]! + (givenBias?.[output] ?? 0),
  );
  const reduce = workspace.dense(
    { inputs: outputs, outputs, rows: rows / stride, isRectified: true },
    (output, at) => reducing[output * outputs + at]!,
    (output) => reducingBias[output]!,
  );

  return {
    input,
    outputs,
    run: (output) => {
      workspace.runDepthwise(convolution, input, input.at + half);
      workspace.runDense(mix, input, mixed);
      workspace.runDense(reduce, { at: mixed.at, stride: stride * outputs }, output);
    },
  };
}
