import type { Runtime } from '../../db/runtime.ts';
import { retryWhileAway } from '../../jobs/work/retry-while-away.ts';
import type { Slices } from '../../platform/slices.ts';
import { bytesPerFrame, bytesPerSecond, durationMs, type LiveFormat } from '../../rules/live/encoding.ts';
import { Meter } from './meter.ts';
import type { TakenSession } from './take-over.ts';

/** The session that takes audio which is paid for. */
export type PayingSession = TakenSession & {
  /** Nothing more is taken once it has aborted. */
  over: AbortSignal;
  /** Takes a tenth of a second of audio at most. */
  take(bytes: Uint8Array): void;
  /** So many seconds are covered; nothing is taken after them. */
  balanceLow(secondsLeft: number): void;
  /** Nothing more is taken. */
  finish(reason: AudioEnd): Promise<void>;
  /** Another process has the job. */
  lose(reason: 'lost'): void;
  /** A fault of the service. @param what  for the log */
  fail(cause: unknown, what: string): void;
};

/** Why audio that came is not taken. */
export type AudioEnd = 'out_of_balance' | 'too_long';

const FRAMES_PER_TURN = 10;

/**
 * The audio of a session that waits for its turn in the event loop, or for its price to be held, and what the client
 * asked for after it.
 */
export class PaidAudio {
  readonly #runtime: Runtime & { slices: Slices };
  readonly #session: PayingSession;
  readonly #format: LiveFormat;
  readonly #meter: Meter;
  #waiting: (Uint8Array | (() => void))[] = [];
  #waitingBytes = 0;
  /** Whether the first audio that waits is not covered. */
  #isUnpaid = false;
  #taking: Promise<void> | null = null;
  #growing: Promise<void> | null = null;
  /** Whether the balance was too short when it was asked last. */
  #isShort = false;
  /** Bytes that came and bytes that were taken, gaps included, and the gaps among the latter. */
  #cameBytes: number;
  #takenBytes: number;
  #gapBytes: number;
  /** Set once no more audio comes. */
  #last: PromiseWithResolvers<AudioEnd | null> | null = null;

  constructor(runtime: Runtime & { slices: Slices }, session: PayingSession) {
    const { job, row, over } = session;
    this.#runtime = runtime;
    this.#session = session;
    this.#format = row.options;
    this.#meter = new Meter(runtime, job);
    this.#cameBytes = row.durableBytes;
    this.#takenBytes = row.durableBytes;
    this.#gapBytes = row.gapBytes;
    over.addEventListener('abort', () => {
      this.#waiting = [];
      this.#last?.resolve(null);
    });
  }

  /** Bytes of the session that came, gaps included. */
  get cameBytes(): number {
    return this.#cameBytes;
  }

  /** Whether the client has to wait. */
  get isFull(): boolean {
    return this.#isUnpaid || this.#waitingBytes > bytesPerSecond(this.#format);
  }

  push(bytes: Uint8Array): void {
    this.#cameBytes += bytes.length;
    this.#waitingBytes += bytes.length;
    this.#waiting.push(bytes);
    this.#take();
  }

  /**
   * Passes over bytes that the client has lost, after what came before.
   * @param act  takes the gap; nothing is taken any more where the gap makes the session too long
   */
  skip(to: number, act: () => void): void {
    const bytes = to - this.#cameBytes;
    this.#cameBytes = to;
    this.after(() => {
      const [gapMs, endMs] = [this.#gapBytes + bytes, to].map((all) => durationMs(this.#format, all));
      if (!this.#meter.allowsGap(gapMs!, endMs!, this.#runtime.clock.now())) return this.#stop('too_long');
      this.#gapBytes += bytes;
      this.#takenBytes = to;
      act();
    });
  }

  /** Calls back once what came before is taken: at once where nothing waits. */
  after(act: () => void): void {
    if (this.#waiting.length === 0) act();
    else this.#waiting.push(act);
  }

  /** Resolves once what came is taken, as far as it is covered now. */
  async settled(): Promise<void> {
    await this.#taking;
  }

  /**
   * No more audio comes. Resolves once what came is taken, and no statement runs that holds credits: to null, or to why
   * the rest of it was not taken.
   */
  async finish(): Promise<AudioEnd | null> {
    this.#last = Promise.withResolvers();
    this.after(() => this.#last?.resolve(null));
    const reason = await this.#last.promise;
    await this.#growing;
    return reason;
  }

  #take(): void {
    this.#taking ??= this.#takeCovered().finally(() => {
      this.#taking = null;
      // What came in this very moment.
      if (this.#waiting.length > 0 && !this.#isUnpaid) this.#take();
    });
  }

  async #takeCovered(): Promise<void> {
    do {
      await this.#runtime.slices.turn(this.#session.job.accountId);
      if (this.#session.over.aborted) return;
      this.#takeNext();
    } while (this.#waiting.length > 0 && !this.#isUnpaid);
    if (this.#isUnpaid && this.#meter.isAtLength) return this.#stop('too_long');
    if (this.#meter.isLow(this.#takenMs())) this.#grow();
  }

  #takeNext(): void {
    const next = this.#waiting[0];
    this.#isUnpaid = false;
    if (typeof next === 'function') {
      this.#waiting.shift();
      next();
    } else if (next) {
      const allowed = Math.max(0, this.#allowedBytes() - this.#takenBytes);
      const part = next.subarray(0, Math.min(allowed, FRAMES_PER_TURN * bytesPerFrame(this.#format)));
      if (part.length === next.length) this.#waiting.shift();
      else this.#waiting[0] = next.subarray(part.length);
      this.#waitingBytes -= part.length;
      this.#takenBytes += part.length;
      this.#isUnpaid = allowed === 0;
      if (part.length > 0) this.#session.take(part);
    }
  }

  #allowedBytes(): number {
    return Math.floor((this.#meter.allowedMs * bytesPerSecond(this.#format)) / 1000) + this.#gapBytes;
  }

  #takenMs(): number {
    return durationMs(this.#format, this.#takenBytes - this.#gapBytes);
  }

  #grow(): void {
    // Once the balance was too short, it is asked again only when the covered audio is used up.
    if (this.#growing !== null || (this.#isShort && !this.#isUnpaid)) return;
    this.#growing = this.#growOnce().finally(() => {
      this.#growing = null;
      if (this.#isUnpaid && !this.#session.over.aborted) this.#take();
    });
  }

  async #growOnce(): Promise<void> {
    const takenMs = this.#takenMs();
    const { job, over } = this.#session;
    const again = { waits: 'the hold of a live session', jobId: job.id, signal: over };
    try {
      const coverage = await retryWhileAway(this.#runtime, again, () => this.#meter.grow(takenMs));
      if (coverage === 'lost') return this.#session.lose('lost');
      const wasShort = this.#isShort;
      this.#isShort = coverage === 'short';
      if (!this.#isShort) return;
      if (!wasShort) this.#session.balanceLow(Math.max(0, this.#meter.allowedMs - this.#takenMs()) / 1000);
      else if (this.#takenBytes >= this.#allowedBytes()) this.#stop('out_of_balance');
    } catch (cause) {
      this.#session.fail(cause, 'the hold of a live session could not be made');
    }
  }

  #stop(reason: AudioEnd): void {
    if (this.#session.over.aborted) return;
    this.#waiting = [];
    if (this.#last) this.#last.resolve(reason);
    else void this.#session.finish(reason);
  }
}
