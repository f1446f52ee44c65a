import type { Pcm } from '../engine.ts';

/** sherpa-onnx reads any typed array as floats: 16-bit samples would give wrong text without an error. */
export function asFloats(piece: Pcm): Float32Array {
  return Float32Array.from(piece, (sample) => sample / 32_768);
}
