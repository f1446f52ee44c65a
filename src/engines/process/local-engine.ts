import type { Engine, Pcm, TranscribeOptions } from '../engine.ts';
import { holdsNoSpeech, testTone } from '../silence.ts';
import type { ChildPool } from './child-pool.ts';

const WARM_UP_TIMEOUT_MS = 150_000;

/** An engine that runs in the processes of a pool. */
export function localEngine(name: string, slots: number, pool: ChildPool): Engine {
  async function transcribe(piece: Pcm, options: TranscribeOptions) {
    options.signal.throwIfAborted();
    if (holdsNoSpeech(piece)) return { segments: [], language: options.language };
    return await pool.transcribe(piece, options);
  }
  async function warmUp() {
    const options = { language: null, timeoutMs: WARM_UP_TIMEOUT_MS, signal: new AbortController().signal };
    await pool.transcribe(testTone(), options);
  }
  return { name, slots, warmUp, transcribe, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}
