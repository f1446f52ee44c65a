import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { Log } from '../../platform/log.ts';
import type { Engine, EngineError, Pcm, TranscribeOptions, Transcript } from '../engine.ts';
import { type Call, openCallQueue } from './call-queue.ts';
import { type Child, type ChildSettings, startChild } from './child.ts';
import { answerReason, closed, errorAtStart, failedOnAudio, restartDelayMs, stoppedOnAudio } from './child-faults.ts';

export type PoolSettings = ChildSettings & {
  slots: number;
  /** What the operator should do when the process cannot start; part of the error message. */
  startAdvice: string;
  log: Log;
  /** Called for each process that crashed or exceeded its memory limit. */
  onRestart?: (() => void) | undefined;
  /** Called for each call during which the process wrote to its stderr. */
  onMessages?: (() => void) | undefined;
};

// Three processes do not end by chance on the same piece.
const DEATHS_MAX = 3;

/**
 * `slots` processes that transcribe one piece at a time each. When a process crashes, another one gets its call, which
 * fails when it has ended three processes; the pool starts another process, after a delay that doubles with each
 * failure in a row. A call that times out or is aborted kills
 * its process, since native code cannot be interrupted.
 */
export class ChildPool implements Pick<Engine, 'transcribe'>, AsyncDisposable {
  readonly #settings: PoolSettings;
  readonly #queue = openCallQueue();
  readonly #closing = Promise.withResolvers<void>();
  readonly #firstStart = Promise.withResolvers<void>();
  readonly #alive = new Set<Child>();
  readonly #ready = new Set<Child>();
  readonly #slots: Promise<void>[];
  #isClosing = false;

  constructor(settings: PoolSettings) {
    this.#settings = settings;
    this.#slots = Array.from({ length: settings.slots }, (_, slot) => this.#runSlot(slot));
  }

  transcribe(piece: Pcm, options: TranscribeOptions): Promise<Transcript> {
    return this.#isClosing ? Promise.reject(closed()) : this.#queue.submit(piece, options);
  }

  /** Ids of the running processes, for tests. */
  pids(): number[] {
    return [...this.#alive].map((child) => child.pid).filter((pid) => pid !== undefined);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#closing.resolve();
    this.#queue.failAll(closed());
    for (const child of this.#alive) child.kill();
    await Promise.all(this.#slots);
    // A call that a process had taken, and not begun, came back.
    this.#queue.failAll(closed());
  }

  /** Keeps one process running until the pool closes. */
  async #runSlot(slot: number): Promise<void> {
    let failures = 0;
    // The first process starts alone: it loads faster, and shows whether the model loads at all.
    if (slot > 0) await this.#unlessClosing(this.#firstStart.promise);
    while (!this.#isClosing) {
      if (failures > 0) await this.#unlessClosing(sleep(restartDelayMs(failures)));
      if (this.#isClosing) return;
      const isHealthy = await this.#runChild();
      failures = isHealthy ? 0 : failures + 1;
    }
  }

  /** One process from its start to its exit. False when it could not start, or crashed before its first answer. */
  async #runChild(): Promise<boolean> {
    const child = startChild(this.#settings);
    this.#alive.add(child);
    void child.exited.then(() => this.#alive.delete(child));
    const startError = await errorAtStart(child, this.#settings.startAdvice);
    this.#firstStart.resolve();
    if (startError !== null) {
      await this.#reportStartError(child, startError);
      return false;
    }
    this.#ready.add(child);
    const { hasAnswered, wasKilled } = await this.#serveCalls(child);
    this.#ready.delete(child);
    if (!wasKilled && !this.#isClosing) this.#settings.onRestart?.();
    return hasAnswered;
  }

  /** Passes calls to the process until it exits. `wasKilled` when its last call timed out or was aborted. */
  async #serveCalls(child: Child): Promise<{ hasAnswered: boolean; wasKilled: boolean }> {
    const stop = new AbortController();
    void child.exited.then(() => stop.abort());
    let hasAnswered = false;
    let wasKilled = false;
    while (child.isAlive()) {
      const call = await this.#queue.take(stop.signal);
      if (call === null) break;
      if (!child.isAlive()) this.#queue.putBack(call);
      else if (!call.isOver()) {
        const end = await this.#runCall(child, call);
        if (end !== 'crashed') hasAnswered = true;
        wasKilled = end === 'killed';
      }
    }
    await child.exited;
    return { hasAnswered, wasKilled };
  }

  async #runCall(child: Child, call: Call): Promise<'answered' | 'killed' | 'crashed'> {
    const { buffer, byteOffset, byteLength } = call.piece;
    child.takeMessages();
    const response = child.request(call.request, new Uint8Array(buffer, byteOffset, byteLength)).then(
      (answer) => ({ answer, crash: null }),
      (crash: unknown) => ({ answer: null, crash }),
    );
    const first = await Promise.race([response, call.over.then(() => null)]);
    if (first === null) {
      // The call timed out or was aborted while the process still works on it.
      child.kill();
      await response;
      return 'killed';
    }
    const { answer, crash } = first;
    if (answer === null) this.#giveToAnother(call, crash);
    else if (answer.kind === 'done') {
      const hasErrors = await this.#reportMessages(child, call);
      call.succeed(hasErrors ? { ...answer.transcript, hasErrors } : answer.transcript);
    } else call.fail(failedOnAudio(answerReason(answer)));
    return answer === null ? 'crashed' : 'answered';
  }

  /** sherpa-onnx writes the exceptions of its decoders to stderr, and gives an empty text. False without messages. */
  async #reportMessages(child: Child, call: Call): Promise<boolean> {
    // Messages come by another pipe than answers.
    await turnOfTheLoop();
    const messages = child.takeMessages();
    if (messages === '') return false;
    const found = { job_id: call.jobId, samples: call.piece.length, messages };
    this.#settings.log.warn(found, 'an engine wrote an error during a call');
    this.#settings.onMessages?.();
    return true;
  }

  /** The process may have ended for a reason of its own, such as a lack of memory. */
  #giveToAnother(call: Call, crash: unknown): void {
    call.deaths += 1;
    const found = { job_id: call.jobId, cause: String(crash), deaths: call.deaths };
    this.#settings.log.warn(found, 'engine process ended during a call');
    if (this.#isClosing) call.fail(closed());
    else if (call.deaths >= DEATHS_MAX) call.fail(stoppedOnAudio(crash));
    else if (!call.isOver()) this.#queue.putBack(call);
  }

  /**
   * Calls wait while another process serves them;
   * with no other process they fail, and the next call starts a new attempt.
   */
  async #reportStartError(child: Child, error: EngineError): Promise<void> {
    child.kill();
    await child.exited;
    if (this.#isClosing) return;
    this.#settings.log.error({ err: error, cause: String(error.cause) }, 'engine process cannot start');
    if (this.#ready.size === 0) this.#queue.failAll(error);
    await this.#unlessClosing(this.#queue.waitForCall());
  }

  async #unlessClosing(wait: Promise<void>): Promise<void> {
    await Promise.race([wait, this.#closing.promise]);
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
