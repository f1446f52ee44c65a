import type { Log } from '../../platform/log.ts';
import type { Engine } from '../engine.ts';
import { EngineError } from '../engine.ts';
import type { Call } from './call-queue.ts';
import { openCallQueue } from './call-queue.ts';
import type { Child, ChildSettings } from './child.ts';
import { startChild } from './child.ts';

export type PoolSettings = ChildSettings & {
  slots: number;
  /** What a person should do when the process cannot start; shown as it stands. */
  startAdvice: string;
  log: Log;
  /** Called for each process that ended unasked: it crashed, or went past its memory. */
  onRestart?: (() => void) | undefined;
};

/** An engine whose work is done in processes; `pids` of those that live, for tests. */
export type ChildPool = Pick<Engine, 'transcribe'> & AsyncDisposable & { pids(): number[] };

// A model of 600 MB loads in 1.3 s from a warm disk; a cold, slow one takes far longer.
const START_TIMEOUT_MS = 120_000;
const RESTART_DELAY_BASE_MS = 100;
const RESTART_DELAY_MAX_MS = 5000;

/**
 * `slots` processes that each take one piece at a time. A process that crashes fails the call it ran and no other, and is
 * started again, later each time in a row; a call that times out or is aborted ends its process, since native code cannot be
 * told to stop.
 */
export function openChildPool(settings: PoolSettings): ChildPool {
  const queue = openCallQueue();
  const closing = Promise.withResolvers<void>();
  const ready = new Set<Child>();
  const alive = new Set<Child>();
  const firstTried = Promise.withResolvers<void>();
  let isClosing = false;

  /** One process after the other. The first goes ahead: it has the machine to itself, and shows whether the model loads at all. */
  async function keepSeat(number: number): Promise<void> {
    let failures = 0;
    if (number > 0) await Promise.race([firstTried.promise, closing.promise]);
    while (!isClosing) {
      if (failures > 0) await Promise.race([sleep(restartDelayMs(failures)), closing.promise]);
      if (isClosing) return;
      const child = startChild(settings);
      alive.add(child);
      void child.exited.then(() => alive.delete(child));
      const startError = await whyNotReady(child, settings);
      firstTried.resolve();
      if (startError === null) {
        ready.add(child);
        const { isBroken, wasAsked } = await serve(child);
        ready.delete(child);
        failures = isBroken ? failures + 1 : 0;
        if (!wasAsked && !isClosing) settings.onRestart?.();
      } else {
        failures += 1;
        await giveUp(child, startError);
      }
    }
  }

  /** Calls until the process ends. It is broken when it ended by itself before it answered any; asked, when we ended it. */
  async function serve(child: Child): Promise<{ isBroken: boolean; wasAsked: boolean }> {
    const stop = new AbortController();
    void child.exited.then(() => stop.abort());
    let isBroken = true;
    let wasAsked = false;
    while (child.isAlive()) {
      const call = await queue.take(stop.signal);
      if (call === null) break;
      if (!child.isAlive()) queue.putBack(call);
      else if (!call.isOver()) {
        const end = await runCall(child, call, settings.log);
        if (end !== 'crashed') isBroken = false;
        wasAsked = end === 'stopped';
      }
    }
    await child.exited;
    return { isBroken, wasAsked };
  }

  /** While another process serves, the calls wait for that one. With none, they hear why, and the next call tries again. */
  async function giveUp(child: Child, error: EngineError): Promise<void> {
    child.kill();
    await child.exited;
    if (isClosing) return;
    settings.log.error({ err: error, cause: String(error.cause) }, 'engine process cannot start');
    if (ready.size === 0) queue.failAll(error);
    await Promise.race([queue.waitForCall(), closing.promise]);
  }

  const seats = Array.from({ length: settings.slots }, (_, number) => keepSeat(number));
  return {
    transcribe: (piece, options) => (isClosing ? Promise.reject(closed()) : queue.submit(piece, options)),
    pids: () => [...alive].map((child) => child.pid).filter((pid) => pid !== undefined),
    async [Symbol.asyncDispose]() {
      isClosing = true;
      closing.resolve();
      queue.failAll(closed());
      for (const child of alive) child.kill();
      await Promise.all(seats);
    },
  };
}

type CallEnd = 'answered' | 'stopped' | 'crashed';

async function runCall(child: Child, call: Call, log: Log): Promise<CallEnd> {
  const { buffer, byteOffset, byteLength } = call.piece;
  let end: CallEnd | null = null;
  const asked = child.ask({ language: call.language }, new Uint8Array(buffer, byteOffset, byteLength)).then(
    (answer) => {
      end = 'answered';
      if (answer.kind === 'done') call.succeed(answer.transcript);
      else call.fail(failedOnAudio(answer));
    },
    (cause: unknown) => {
      end ??= 'crashed';
      if (!call.isOver()) log.warn({ cause: String(cause) }, 'engine process ended during a call');
      call.fail(new EngineError('engine_error', 'The speech engine stopped while it worked on this audio.', { cause }));
    },
  );
  await call.over;
  if (end === null) {
    // Timed out or aborted: the process is still at work on what nobody waits for.
    end = 'stopped';
    child.kill();
  }
  await asked;
  return end;
}

async function whyNotReady(child: Child, { startAdvice }: PoolSettings): Promise<EngineError | null> {
  const timer = setTimeout(() => child.kill(), START_TIMEOUT_MS);
  const answer = await child.ready.catch((error: Error) => error).finally(() => clearTimeout(timer));
  if ('kind' in answer && answer.kind === 'ready') return null;
  return new EngineError('engine_error', `The speech engine cannot start. ${startAdvice}`, {
    cause: answerReason(answer),
  });
}

function answerReason(answer: object): unknown {
  return 'reason' in answer ? new Error(String(answer.reason)) : answer;
}

function failedOnAudio(answer: object): EngineError {
  return new EngineError('engine_error', 'The speech engine failed on this audio.', { cause: answerReason(answer) });
}

function closed(): EngineError {
  return new EngineError('engine_error', 'The speech engine is closed.');
}

function restartDelayMs(failures: number): number {
  return Math.min(RESTART_DELAY_MAX_MS, RESTART_DELAY_BASE_MS * 2 ** (failures - 1));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
