import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import { type Random, randomFrom } from '../fixtures/random.ts';

/** A process of the service, or the clients. It may freeze or die. */
export type Actor = {
  /** The position that it fills; its successor after a crash has the same slot. */
  slot: string;
  /** The name of the process: no other has it. */
  holder: string;
  isAlive: boolean;
  /** While it is frozen: no result reaches it before this time. */
  frozenUntilMs: number;
  /** Error of its clock. */
  clockOffsetMs: number;
  /** Its statements do not reach the database before this time. */
  cutOffUntilMs: number;
  /** Aborted when it dies. */
  death: AbortController;
  /** Called when it dies. */
  onDeath: (() => Promise<void>)[];
};

type Pending = { number: number; atMs: number; actor: Actor | null; run: () => void };

/** A statement that the real database executes. */
type InFlight = { done: boolean; isWaiting: boolean; promise: Promise<void>; tell: () => void };

/** Runs one step at a time, in an order that follows from the seed. */
export type Simulator = {
  random: Random;
  nowMs(): number;
  /** Calls back for an actor after a while; never if the actor dies before. */
  after(actor: Actor | null, delayMs: number, run: () => void): void;
  /** Passes work to the real database. The outcome is reported when no other statement can affect it. */
  work<Result>(promise: Promise<Result>, tell: (outcome: Outcome<Result>) => void): void;
  /**
   * Takes steps until `isOver` holds while no statement is in flight, or the time is up; returns whether it is over.
   */
  run(untilMs: number, isOver?: () => boolean): Promise<boolean>;
  /**
   * Whether every order followed from the seed:
   * PostgreSQL chooses among several statements that wait for the same lock.
   */
  isReplayable(): boolean;
};

export type Outcome<Result> = { kind: 'result'; result: Result } | { kind: 'error'; error: unknown };

// A statement that takes longer may be waiting for a lock.
const LOOK_AT_LOCKS_MS = 15;
export const START_MS = Date.UTC(2026, 0, 5, 12);

/** @param countWaiting  gives the number of sessions that wait for a lock of another session */
export function openSimulator(seed: number, countWaiting: () => Promise<number>): Simulator {
  return new SteppedSimulator(seed, countWaiting);
}

/** Steps of actors in the order of their times, and the statements of the real database between them. */
class SteppedSimulator implements Simulator {
  readonly random: Random;
  readonly #countWaiting: () => Promise<number>;
  readonly #pending: Pending[] = [];
  #inFlight: InFlight[] = [];
  #nowMs = START_MS;
  #number = 0;
  #isReplayable = true;

  constructor(seed: number, countWaiting: () => Promise<number>) {
    this.random = randomFrom(seed);
    this.#countWaiting = countWaiting;
  }

  nowMs(): number {
    return Math.floor(this.#nowMs);
  }

  isReplayable(): boolean {
    return this.#isReplayable;
  }

  after(actor: Actor | null, delayMs: number, run: () => void): void {
    this.#pending.push({ number: this.#number++, atMs: this.#nowMs + delayMs, actor, run });
  }

  work<Result>(promise: Promise<Result>, tell: (outcome: Outcome<Result>) => void): void {
    const entry: InFlight = { done: false, isWaiting: false, promise: Promise.resolve(), tell: () => undefined };
    const end = (outcome: Outcome<Result>) => {
      entry.done = true;
      entry.tell = () => tell(outcome);
    };
    entry.promise = promise.then(
      (result) => end({ kind: 'result', result }),
      (error: unknown) => end({ kind: 'error', error }),
    );
    this.#inFlight.push(entry);
  }

  /** Resolves when each statement has been answered or waits for a lock that only another step releases. */
  async #databaseRests(): Promise<void> {
    const open = () => this.#inFlight.filter((entry) => !entry.done);
    // A statement that waits for a lock still waits until another statement has run.
    if (open().every((entry) => entry.isWaiting) && open().length === this.#inFlight.length) return;
    while (open().length > 0) {
      const fresh = open().filter((entry) => !entry.isWaiting);
      if (fresh.length > 0)
        await Promise.race([Promise.all(fresh.map((entry) => entry.promise)), wait(LOOK_AT_LOCKS_MS)]);
      const before = open().length;
      if (before > 0 && (await this.#countWaiting()) >= before && open().length === before) break;
    }
    const done = this.#inFlight.filter((entry) => entry.done);
    this.#inFlight = open();
    if (this.#inFlight.length > 1) this.#isReplayable = false;
    for (const entry of this.#inFlight) entry.isWaiting = true;
    for (const entry of done) entry.tell();
  }

  #takeNext(untilMs: number): Pending | null {
    let best = -1;
    for (let i = 0; i < this.#pending.length; i++) {
      const one = this.#pending[i]!;
      if (
        best < 0 ||
        one.atMs < this.#pending[best]!.atMs ||
        (one.atMs === this.#pending[best]!.atMs && one.number < this.#pending[best]!.number)
      )
        best = i;
    }
    if (best < 0 || this.#pending[best]!.atMs > untilMs) return null;
    return this.#pending.splice(best, 1)[0]!;
  }

  async run(untilMs: number, isOver: () => boolean = () => false): Promise<boolean> {
    for (;;) {
      await turn();
      await this.#databaseRests();
      await turn();
      if (isOver()) return true;
      const next = this.#takeNext(untilMs);
      if (!next) {
        if (this.#inFlight.length > 0 && this.#pending.length === 0)
          throw new Error('statements wait for locks that no step releases');
        this.#nowMs = Math.max(this.#nowMs, untilMs);
        return false;
      }
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      if (next.actor && !next.actor.isAlive) continue;
      if (next.actor && next.actor.frozenUntilMs > this.#nowMs) {
        this.#pending.push({ ...next, atMs: next.actor.frozenUntilMs + this.random.next() });
        continue;
      }
      next.run();
    }
  }
}
