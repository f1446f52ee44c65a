import type { ChildPool } from './child-pool.ts';
import type { Engine, Pcm, TranscribeOptions } from './engine.ts';
import { SAMPLE_RATE } from './engine.ts';
import { holdsNoSpeech } from './silence.ts';

const WARM_UP_TIMEOUT_MS = 150_000;

/** An engine whose models run in the processes of a pool. */
export function localEngine(name: string, slots: number, pool: ChildPool): Engine {
  async function transcribe(piece: Pcm, options: TranscribeOptions) {
    options.signal.throwIfAborted();
    if (holdsNoSpeech(piece)) return { segments: [], language: options.language };
    const transcript = await pool.transcribe(piece, options);
    return { ...transcript, language: transcript.language ?? options.language };
  }
  async function warmUp() {
    const options = { language: null, timeoutMs: WARM_UP_TIMEOUT_MS, signal: new AbortController().signal };
    await Promise.all(Array.from({ length: slots }, () => pool.transcribe(hum(), options)));
  }
  return { name, slots, warmUp, transcribe, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

/** One second that every model has to work on: a hum. */
function hum(): Pcm {
  return Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 1000 * Math.sin(at / 20));
}
