import { SAMPLE_RATE } from '../../../src/engines/engine.ts';

/** Replaces src/audio/media/decode.ts: the path is the storage key, and the key contains the duration of silence in ms. */
export async function* decodePcm(path: string): AsyncGenerator<Int16Array> {
  yield new Int16Array((Number(path.split('-')[1]) * SAMPLE_RATE) / 1000);
}

/** No simulated job asks for its channels. */
export function decodeSandboxed(): never {
  throw new Error('not simulated');
}

export const wholeFrames = decodeSandboxed;
