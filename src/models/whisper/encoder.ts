import type { GraphBuilder } from './graph.ts';
import { type OnnxGraph, port } from './onnx-writer.ts';

/** The encoder as sherpa-onnx runs it: from features to the keys and values of each layer of the decoder. */
export function encoderGraph(graph: GraphBuilder, layers: { encoder: number; decoder: number }): OnnxGraph {
  let state = addPositions(graph, convolutions(graph));
  for (let index = 0; index < layers.encoder; index += 1) {
    const layer = `encoder/layer_${index}/self_attention`;
    const joined = graph.linear(graph.normalised(state, `${layer}/layer_norm`), `${layer}/linear_0`);
    const [query, key, value] = graph.steps('Split', [joined], 3, { axis: -1 }) as [string, string, string];
    const { output } = graph.attention({ query, key, value });
    state = graph.step('Add', [state, graph.linear(output, `${layer}/linear_1`)]);
    state = graph.feedForward(state, `encoder/layer_${index}/ffn`);
  }
  crossKeysAndValues(graph, graph.normalised(state, 'encoder/layer_norm'), layers.decoder);
  const shape = [layers.decoder, 'N', 'frames', graph.channels];
  const bands = graph.model.dimensionsOf('encoder/conv1/weight')[1]!;
  return {
    nodes: graph.nodes,
    constants: graph.constants,
    inputs: [port('mel', 'float', ['N', bands, 'T'])],
    outputs: [port('n_layer_cross_k', 'float', shape), port('n_layer_cross_v', 'float', shape)],
  };
}

function convolutions(graph: GraphBuilder): string {
  const convolve = (input: string, name: string, strides: number[]) => {
    const inputs = [input, graph.weight(`encoder/${name}/weight`), graph.weight(`encoder/${name}/bias`)];
    return graph.gelu(graph.step('Conv', inputs, { kernel_shape: [3], pads: [1, 1], strides }));
  };
  const halved = convolve(convolve('mel', 'conv1', [1]), 'conv2', [2]);
  return graph.step('Transpose', [halved], { perm: [0, 2, 1] });
}

function addPositions(graph: GraphBuilder, state: string): string {
  const frames = graph.step('Slice', [graph.step('Shape', [state]), graph.integers(1), graph.integers(2)]);
  const positions = graph.weight('encoder/position_encodings/encodings');
  return graph.step('Add', [state, graph.step('Slice', [positions, graph.integers(0), frames, graph.integers(0)])]);
}

function crossKeysAndValues(graph: GraphBuilder, state: string, layers: number): void {
  const [keys, values]: [string[], string[]] = [[], []];
  for (let index = 0; index < layers; index += 1) {
    const joined = graph.linear(state, `decoder/layer_${index}/attention/linear_1`);
    const [key, value] = graph.steps('Split', [joined], 2, { axis: -1 }) as [string, string];
    keys.push(graph.step('Unsqueeze', [key, graph.integers(0)]));
    values.push(graph.step('Unsqueeze', [value, graph.integers(0)]));
  }
  graph.step('Concat', keys, { axis: 0 }, 'n_layer_cross_k');
  graph.step('Concat', values, { axis: 0 }, 'n_layer_cross_v');
}
