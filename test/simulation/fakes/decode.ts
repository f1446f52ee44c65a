import { SAMPLE_RATE } from '../../../src/engines/engine.ts';

/** Stands in for src/audio/media/decode.ts: the path is the key, and the key says how many ms of silence there are. */
export async function* decodePcm(path: string): AsyncGenerator<Int16Array> {
  yield new Int16Array((Number(path.split('-')[1]) * SAMPLE_RATE) / 1000);
}

export function tooLong(): Error {
  return new Error('too long');
}
