import type { Calls } from '../calls.ts';
import type { History } from '../judge/history.ts';

/**
 * What the clients of a promise saw: histories for the judge of orders, or what a definition of sets or queues found.
 */
export type Evidence =
  | { kind: 'order'; histories: History[] }
  | { kind: 'set-full' | 'queue'; findings: string[]; objects: number };

/** A promise of the service while clients rely on it. */
export type PromiseInUse = {
  /** Runs its clients until the calls are over. */
  use(): Promise<void>;
  /** Once nothing is under way: reads what there is at the end, and compares. */
  evidence(): Promise<Evidence>;
};

/** A promise of the service, as the table names it. */
export type ServicePromise = { name: string; open(calls: Calls): PromiseInUse };

/** One object of a promise: what its clients do with it until it is used up or the calls are over, as a history. */
export type UsedObject = { use(): Promise<void>; history(): Promise<History> };

/**
 * A promise about the order of calls on an object.
 * @param copies  how many objects are in use at once; each that is used up is followed by a new one
 */
export function ordered(name: string, copies: number, open: (calls: Calls) => Promise<UsedObject>): ServicePromise {
  return {
    name,
    open(calls) {
      const objects: UsedObject[] = [];
      return {
        use: () =>
          repeat(calls, copies, async () => {
            const object = await open(calls);
            objects.push(object);
            await object.use();
          }),
        async evidence() {
          const histories: History[] = [];
          for (const object of objects) histories.push(await object.history());
          return { kind: 'order', histories };
        },
      };
    },
  };
}

/** Runs this many copies of a client, each again and again until the calls are over. */
export async function repeat(calls: Calls, copies: number, client: () => Promise<unknown>): Promise<void> {
  const run = async () => {
    while (!calls.isOver) await client();
  };
  await Promise.all(Array.from({ length: copies }, run));
}
