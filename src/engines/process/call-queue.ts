import { EngineError, type Pcm, type TranscribeOptions, type Transcript } from '../engine.ts';
import type { PieceRequest } from './child-serve.ts';

/** A request for one piece. The first outcome counts; later ones are ignored. */
export type Call = {
  piece: Pcm;
  request: PieceRequest;
  /** The job that asks, for the log. */
  jobId: string | undefined;
  succeed(transcript: Transcript): void;
  fail(error: unknown): void;
  isOver(): boolean;
  /** Processes that ended while they had it. */
  deaths: number;
  /** Resolves when the call has ended: answered, failed, timed out or aborted. */
  over: Promise<void>;
};

/** Two queues, in order of arrival: calls that wait for a process, and processes that wait for a call. */
export type CallQueue = {
  submit(piece: Pcm, options: TranscribeOptions): Promise<Transcript>;
  /** The next call; null when the signal aborts first. */
  take(signal: AbortSignal): Promise<Call | null>;
  /** Returns a call that was taken but not started to the front of the queue. */
  putBack(call: Call): void;
  /** Resolves when at least one call waits. */
  waitForCall(): Promise<void>;
  failAll(error: unknown): void;
};

export function openCallQueue(): CallQueue {
  let waiting: Call[] = [];
  let takers: ((call: Call | null) => void)[] = [];
  const watchers: (() => void)[] = [];

  function enqueue(call: Call, place: 'front' | 'back'): void {
    const taker = takers.shift();
    if (taker) taker(call);
    else if (place === 'front') waiting.unshift(call);
    else waiting.push(call);
    for (const resolve of watchers.splice(0)) resolve();
  }

  return {
    submit(piece, options) {
      const { call, answered } = openCall(piece, options);
      if (!call.isOver()) enqueue(call, 'back');
      void call.over.then(() => {
        waiting = waiting.filter((other) => other !== call);
      });
      return answered;
    },
    take(signal) {
      const next = waiting.shift();
      if (next || signal.aborted) return Promise.resolve(next ?? null);
      return new Promise((resolve) => {
        const give = (call: Call | null) => {
          signal.removeEventListener('abort', leave);
          resolve(call);
        };
        const leave = () => {
          takers = takers.filter((taker) => taker !== give);
          resolve(null);
        };
        takers.push(give);
        signal.addEventListener('abort', leave, { once: true });
      });
    },
    putBack: (call) => enqueue(call, 'front'),
    waitForCall: () => (waiting.length > 0 ? Promise.resolve() : new Promise((resolve) => watchers.push(resolve))),
    failAll(error) {
      for (const call of waiting.splice(0)) call.fail(error);
    },
  };
}

function openCall(piece: Pcm, { language, translateTo = null, jobId, timeoutMs, signal }: TranscribeOptions) {
  const { promise: answered, resolve, reject } = Promise.withResolvers<Transcript>();
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let isOver = false;
  const settle = (how: () => void) => {
    if (isOver) return;
    isOver = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    how();
    end();
  };
  const fail = (error: unknown) => settle(() => reject(error));
  const abort = () => fail(signal.reason);
  const timer = setTimeout(() => fail(tookTooLong(timeoutMs)), timeoutMs);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  const succeed = (transcript: Transcript) => settle(() => resolve(transcript));
  const call: Call = {
    piece,
    request: { language, translateTo },
    jobId,
    succeed,
    fail,
    isOver: () => isOver,
    deaths: 0,
    over,
  };
  return { call, answered };
}

/** The error of a call that timed out, the same in every engine. */
export function tookTooLong(timeoutMs: number): EngineError {
  return new EngineError('engine_timeout', `The speech engine gave no answer within ${timeoutMs / 1000} s.`);
}
