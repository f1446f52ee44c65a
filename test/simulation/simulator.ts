import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../fixtures/random.ts';
import { randomFrom } from '../fixtures/random.ts';

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
  /** Takes steps until `isOver` holds while no statement is in flight, or the time is up; returns whether it is over. */
  run(untilMs: number, isOver?: () => boolean): Promise<boolean>;
};

export type Outcome<Result> = { kind: 'result'; result: Result } | { kind: 'error'; error: unknown };

// A statement that takes longer may be waiting for a lock.
const LOOK_AT_LOCKS_MS = 15;
export const START_MS = Date.UTC(2026, 0, 5, 12);

/** @param countWaiting  gives the number of sessions that wait for a lock of another session */
export function openSimulator(seed: number, countWaiting: () => Promise<number>): Simulator {
  const random = randomFrom(seed);
  const pending: Pending[] = [];
  let inFlight: InFlight[] = [];
  let nowMs = START_MS;
  let number = 0;

  function after(actor: Actor | null, delayMs: number, run: () => void): void {
    pending.push({ number: number++, atMs: nowMs + delayMs, actor, run });
  }

  function work<Result>(promise: Promise<Result>, tell: (outcome: Outcome<Result>) => void): void {
    const entry: InFlight = { done: false, isWaiting: false, promise: Promise.resolve(), tell: () => undefined };
    const end = (outcome: Outcome<Result>) => {
      entry.done = true;
      entry.tell = () => tell(outcome);
    };
    entry.promise = promise.then(
      (result) => end({ kind: 'result', result }),
      (error: unknown) => end({ kind: 'error', error }),
    );
    inFlight.push(entry);
  }

  /** Resolves when each statement has been answered or waits for a lock that only another step releases. */
  async function databaseRests(): Promise<void> {
    const open = () => inFlight.filter((entry) => !entry.done);
    // A statement that waits for a lock still waits until another statement has run.
    if (open().every((entry) => entry.isWaiting) && open().length === inFlight.length) return;
    while (open().length > 0) {
      const fresh = open().filter((entry) => !entry.isWaiting);
      if (fresh.length > 0)
        await Promise.race([Promise.all(fresh.map((entry) => entry.promise)), wait(LOOK_AT_LOCKS_MS)]);
      const before = open().length;
      if (before > 0 && (await countWaiting()) >= before && open().length === before) break;
    }
    const done = inFlight.filter((entry) => entry.done);
    inFlight = open();
    for (const entry of inFlight) entry.isWaiting = true;
    for (const entry of done) entry.tell();
  }

  function takeNext(untilMs: number): Pending | null {
    let best = -1;
    for (let i = 0; i < pending.length; i++) {
      const one = pending[i]!;
      if (
        best < 0 ||
        one.atMs < pending[best]!.atMs ||
        (one.atMs === pending[best]!.atMs && one.number < pending[best]!.number)
      )
        best = i;
    }
    if (best < 0 || pending[best]!.atMs > untilMs) return null;
    return pending.splice(best, 1)[0]!;
  }

  return {
    random,
    nowMs: () => Math.floor(nowMs),
    after,
    work,
    async run(untilMs, isOver = () => false) {
      for (;;) {
        await turn();
        await databaseRests();
        await turn();
        if (isOver()) return true;
        const next = takeNext(untilMs);
        if (!next) {
          if (inFlight.length > 0 && pending.length === 0)
            throw new Error('statements wait for locks that no step releases');
          nowMs = Math.max(nowMs, untilMs);
          return false;
        }
        nowMs = Math.max(nowMs, next.atMs);
        if (next.actor && !next.actor.isAlive) continue;
        if (next.actor && next.actor.frozenUntilMs > nowMs) {
          pending.push({ ...next, atMs: next.actor.frozenUntilMs + random.next() });
          continue;
        }
        next.run();
      }
    },
  };
}
