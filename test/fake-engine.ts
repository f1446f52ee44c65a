import type { Engine, Pcm, TranscribeOptions, Transcript } from '../src/engines/engine.ts';

export type FakeCall = {
  piece: Pcm;
  options: TranscribeOptions;
  /** Ends the call with one segment over the whole piece. */
  say(text: string): void;
  answer(transcript: Transcript): void;
  fail(cause: Error): void;
};

export type FakeEngine = Engine & {
  /** The next call that was made and not yet taken, in order. */
  nextCall(): Promise<FakeCall>;
  /** Calls made so far. */
  count(): number;
};

/** An engine whose calls the test answers, or that says `says` to each at once. */
export function openFakeEngine({ slots = 1, says }: { slots?: number; says?: string } = {}): FakeEngine {
  const made: FakeCall[] = [];
  const waiting: ((call: FakeCall) => void)[] = [];
  let count = 0;
  return {
    name: 'fake',
    slots,
    warmUp: async () => undefined,
    count: () => count,
    nextCall() {
      const call = made.shift();
      return call ? Promise.resolve(call) : new Promise((resolve) => waiting.push(resolve));
    },
    transcribe(piece, options) {
      count++;
      options.signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Transcript>();
      options.signal.addEventListener('abort', () => reject(options.signal.reason));
      const call: FakeCall = {
        piece,
        options,
        say: (text) => resolve(transcriptOf(piece, text)),
        answer: resolve,
        fail: reject,
      };
      if (says !== undefined) call.say(says);
      else if (waiting.length > 0) waiting.shift()!(call);
      else made.push(call);
      return promise;
    },
    async [Symbol.asyncDispose]() {},
  };
}

function transcriptOf(piece: Pcm, text: string): Transcript {
  const endSeconds = piece.length / 16_000;
  const words = text.split(' ').map((word, i, all) => ({
    text: word,
    startSeconds: (endSeconds * i) / all.length,
    endSeconds: (endSeconds * (i + 1)) / all.length,
    confidence: 0.9,
  }));
  return { language: 'en', segments: [{ text, startSeconds: 0, endSeconds, confidence: 0.93, words }] };
}
