import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../fixtures/random.ts';
import { randomFrom } from '../fixtures/random.ts';

/** Something that acts in the simulator and may freeze or die: a process of the service, or the clients. */
export type Actor = {
  /** Which place it fills; its successor after a crash fills the same one. */
  slot: string;
  isAlive: boolean;
  /** Nothing that it waits for comes back before. */
  frozenUntilMs: number;
  /** How far its clock is off. */
  clockOffsetMs: number;
  /** Told when it dies. */
  onDeath: (() => Promise<void>)[];
};

type Pending = { number: number; atMs: number; actor: Actor | null; run: () => void };

/** A statement that the real database works on. */
type InFlight = { done: boolean; isKnownToWait: boolean; promise: Promise<void>; tell: () => void };

/** A simulator whose every step is taken one after the other, in an order that its seed decides. */
export type Simulator = {
  random: Random;
  nowMs(): number;
  /** Runs something for an actor after a while; never, when it dies before. */
  after(actor: Actor | null, delayMs: number, run: () => void): void;
  /** Hands work to the real database. What comes of it is told once nothing else of it can happen. */
  work<Result>(promise: Promise<Result>, tell: (outcome: Outcome<Result>) => void): void;
  /** Takes steps until `isOver` says so at a quiet moment, or the time is up; says whether it is over. */
  run(untilMs: number, isOver?: () => boolean): Promise<boolean>;
};

export type Outcome<Result> = { kind: 'result'; result: Result } | { kind: 'error'; error: unknown };

// A statement that is not done by then may wait for a lock.
const LOOK_AT_LOCKS_MS = 15;
export const START_MS = Date.UTC(2026, 0, 5, 12);

/** @param countWaiting  how many sessions wait for a lock of another */
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
    const entry: InFlight = { done: false, isKnownToWait: false, promise: Promise.resolve(), tell: () => undefined };
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

  /** Until each statement has been answered, or waits for what only another step can give it. */
  async function databaseRests(): Promise<void> {
    const open = () => inFlight.filter((entry) => !entry.done);
    // What waited for a lock goes on waiting until another statement was worked on.
    if (open().every((entry) => entry.isKnownToWait) && open().length === inFlight.length) return;
    while (open().length > 0) {
      const fresh = open().filter((entry) => !entry.isKnownToWait);
      if (fresh.length > 0)
        await Promise.race([Promise.all(fresh.map((entry) => entry.promise)), wait(LOOK_AT_LOCKS_MS)]);
      const before = open().length;
      if (before > 0 && (await countWaiting()) >= before && open().length === before) break;
    }
    const done = inFlight.filter((entry) => entry.done);
    inFlight = open();
    for (const entry of inFlight) entry.isKnownToWait = true;
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
            throw new Error('statements wait for locks that nobody will give back');
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
