import type { GraphBuilder } from './graph.ts';
import { type OnnxGraph, port, tensor } from './onnx-writer.ts';

/** A head of the decoder's attention to the audio whose weights follow the time of the words. */
export type AlignmentHead = [layer: number, head: number];

const MASKED = -1e9;
const [KEY_CACHE, VALUE_CACHE] = ['n_layer_self_k_cache', 'n_layer_self_v_cache'];

/**
 * The decoder as sherpa-onnx runs it: from tokens, and the caches of the tokens before them, to the logits of the next
 * ones, the caches, and the weights of the alignment heads, from which sherpa-onnx takes the times of tokens.
 */
export function decoderGraph(
  graph: GraphBuilder,
  { layers, alignmentHeads }: { layers: number; alignmentHeads: readonly AlignmentHead[] },
): OnnxGraph {
  const [vocabulary] = graph.model.dimensionsOf('decoder/embeddings/weight') as [number, number];
  const [contextTokens] = graph.model.dimensionsOf('decoder/position_encodings/encodings') as [number, number];
  const context = contextOf(graph, contextTokens);
  const caches: { keys: string[]; values: string[] } = { keys: [], values: [] };
  const alignments: string[] = [];
  let state = embed(graph, context);
  for (let layer = 0; layer < layers; layer += 1) {
    state = selfAttention(graph, state, { layer, context, caches });
    const crossed = crossAttention(graph, state, layer);
    const heads = alignmentHeads.filter((head) => head[0] === layer).map((head) => head[1]);
    if (heads.length > 0) {
      alignments.push(graph.step('Gather', [crossed.weights, graph.integers(...heads)], { axis: 1 }));
    }
    state = graph.feedForward(crossed.state, `decoder/layer_${layer}/ffn`);
  }
  graph.product(graph.normalised(state, 'decoder/layer_norm'), 'decoder/embeddings/weight', 'logits');
  graph.step('Concat', caches.keys, { axis: 0 }, `out_${KEY_CACHE}`);
  graph.step('Concat', caches.values, { axis: 0 }, `out_${VALUE_CACHE}`);
  graph.step('Concat', alignments, { axis: 1 }, 'cross_attention_weights');
  const [cache, cross] = ['N', 'N'].map((batch, index) => {
    return [layers, batch, index === 0 ? contextTokens : 'frames', graph.channels];
  }) as [(number | string)[], (number | string)[]];
  return {
    nodes: graph.nodes,
    constants: graph.constants,
    inputs: [
      port('tokens', 'int64', ['N', 'n']),
      port(`in_${KEY_CACHE}`, 'float', cache),
      port(`in_${VALUE_CACHE}`, 'float', cache),
      port('n_layer_cross_k', 'float', cross),
      port('n_layer_cross_v', 'float', cross),
      port('offset', 'int64', [1]),
    ],
    outputs: [
      port('logits', 'float', ['N', 'n', vocabulary]),
      port(`out_${KEY_CACHE}`, 'float', cache),
      port(`out_${VALUE_CACHE}`, 'float', cache),
      port('cross_attention_weights', 'float', ['N', alignmentHeads.length, 'n', 'frames']),
    ],
  };
}

/** Where the tokens end among all so far, and which tokens each of them sees. */
type Context = { tokens: number; end: string; mask: string };

function contextOf(graph: GraphBuilder, tokens: number): Context {
  const count = graph.step('Slice', [graph.step('Shape', ['tokens']), graph.integers(1), graph.integers(2)]);
  const end = graph.step('Add', ['offset', count]);
  const whole = graph.add('mask', () => {
    const values = Float32Array.from({ length: tokens * tokens }, (_, index) =>
      index % tokens > Math.floor(index / tokens) ? MASKED : 0,
    );
    return tensor('mask', [tokens, tokens], values);
  });
  const rows = graph.step('Slice', [whole, 'offset', end, graph.integers(0)]);
  return { tokens, end, mask: graph.step('Slice', [rows, graph.integers(0), end, graph.integers(1)]) };
}

/** The matrix of the logits has the embeddings as its columns. */
function embed(graph: GraphBuilder, { end }: Context): string {
  const { values, scales } = graph.quantised('decoder/embeddings/weight');
  const columns = graph.step('Gather', [values, 'tokens'], { axis: 1 });
  const rows = graph.step('Cast', [graph.step('Transpose', [columns], { perm: [1, 2, 0] })], { to: 1 });
  const zero = graph.step('Cast', [graph.zeroPoint()], { to: 1 });
  const scale = graph.step('Unsqueeze', [graph.step('Gather', [scales, 'tokens']), graph.integers(-1)]);
  const embedded = graph.step('Mul', [graph.step('Sub', [rows, zero]), scale]);
  const positions = graph.weight('decoder/position_encodings/encodings');
  return graph.step('Add', [embedded, graph.step('Slice', [positions, 'offset', end, graph.integers(0)])]);
}

function selfAttention(
  graph: GraphBuilder,
  state: string,
  { layer, context, caches }: { layer: number; context: Context; caches: { keys: string[]; values: string[] } },
): string {
  const name = `decoder/layer_${layer}/self_attention`;
  const joined = graph.linear(graph.normalised(state, `${name}/layer_norm`), `${name}/linear_0`);
  const [query, newKey, newValue] = graph.steps('Split', [joined], 3, { axis: -1 }) as [string, string, string];
  const key = extend(graph, { cache: `in_${KEY_CACHE}`, added: newKey, layer, context, caches: caches.keys });
  const value = extend(graph, { cache: `in_${VALUE_CACHE}`, added: newValue, layer, context, caches: caches.values });
  const { output } = graph.attention({ query, key, value, mask: context.mask });
  return graph.step('Add', [state, graph.linear(output, `${name}/linear_1`)]);
}

/** Writes the new tokens into a layer's cache. @returns  what the cache has of all tokens so far */
function extend(
  graph: GraphBuilder,
  {
    cache,
    added,
    layer,
    context,
    caches,
  }: Record<'cache' | 'added', string> & {
    layer: number;
    context: Context;
    caches: string[];
  },
): string {
  const old = graph.step('Gather', [cache, graph.integer(layer)], { axis: 0 });
  const before = graph.step('Slice', [old, graph.integers(0), 'offset', graph.integers(1)]);
  const after = graph.step('Slice', [old, context.end, graph.integers(context.tokens), graph.integers(1)]);
  const whole = graph.step('Concat', [before, added, after], { axis: 1 });
  caches.push(graph.step('Unsqueeze', [whole, graph.integers(0)]));
  return graph.step('Slice', [whole, graph.integers(0), context.end, graph.integers(1)]);
}

function crossAttention(graph: GraphBuilder, state: string, layer: number): { state: string; weights: string } {
  const name = `decoder/layer_${layer}/attention`;
  const query = graph.linear(graph.normalised(state, `${name}/layer_norm`), `${name}/linear_0`);
  const [key, value] = ['n_layer_cross_k', 'n_layer_cross_v'].map((all) =>
    graph.step('Gather', [all, graph.integer(layer)], { axis: 0 }),
  ) as [string, string];
  const { output, weights } = graph.attention({ query, key, value });
  return { state: graph.step('Add', [state, graph.linear(output, `${name}/linear_2`)]), weights };
}
