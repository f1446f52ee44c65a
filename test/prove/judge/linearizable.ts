import type { History, Operation, Outcome, Verdict } from './history.ts';

type State = Record<string, number>;

/** What the search knows after some calls: the states that are possible, and which calls may be next. */
type Place = { states: State[]; next: number[] };

const MAX_STEPS = 2_000_000;

/** The verdict about a history, and for one that is refused the call that no order could explain. */
export type Explained = { verdict: Verdict; stuckAt: string | null };

/**
 * Searches for a legal order, as Wing and Gong do: each step takes a call that began before every other open call
 * ended. What was tried is not tried again, as Lowe does: the same calls with the same states.
 */
export function explain({ start, operations }: History, maxSteps = MAX_STEPS): Explained {
  const calls = operations.toSorted((a, b) => a.call - b.call);
  const taken = new Uint8Array(calls.length);
  const order: number[] = [];
  const tried = new Set<string>();
  const placeOf = (states: State[]) => ({ states, next: firstOf(states, candidates(calls, taken), calls) });
  const places: Place[] = [placeOf([start])];
  let deepest = { taken: -1, stuckAt: '' };

  for (let steps = 0; places.length > 0; steps++) {
    if (order.length === calls.length) return { verdict: 'accepted', stuckAt: null };
    if (steps > maxSteps) return { verdict: 'undecided', stuckAt: null };
    const place = places.at(-1)!;
    const index = place.next.pop();
    if (index === undefined) {
      if (order.length > deepest.taken) deepest = { taken: order.length, stuckAt: firstToEnd(calls, taken) };
      places.pop();
      const last = order.pop();
      if (last !== undefined) taken[last] = 0;
      continue;
    }
    const states = allAfter(place.states, calls[index]!);
    if (states.length === 0) continue;
    taken[index] = 1;
    const key = `${keyOf(taken)} ${textsOf(states)}`;
    if (tried.has(key)) {
      taken[index] = 0;
      continue;
    }
    tried.add(key);
    order.push(index);
    places.push(placeOf(states));
  }
  return { verdict: 'refused', stuckAt: deepest.stuckAt };
}

/** The open calls that began before every open call ended; the last one is tried first. */
function candidates(calls: Operation[], taken: Uint8Array): number[] {
  const found: number[] = [];
  let firstReturn = Number.POSITIVE_INFINITY;
  for (let i = 0; i < calls.length && calls[i]!.call <= firstReturn; i++) {
    if (taken[i]) continue;
    found.push(i);
    firstReturn = Math.min(firstReturn, calls[i]!.return);
  }
  return found.filter((i) => calls[i]!.call <= firstReturn).sort((a, b) => calls[b]!.return - calls[a]!.return);
}

/**
 * The candidate that only reads, and reads what is in every state: it may as well be next, and stay so. All candidates
 * where there is none.
 */
function firstOf(states: State[], found: number[], calls: Operation[]): number[] {
  const read = found.find((i) => isRead(calls[i]!) && states.every((state) => after(state, calls[i]!).length > 0));
  return read === undefined ? found : [read];
}

function isRead({ outcomes }: Operation): boolean {
  return outcomes.every(({ set, add }) => !set && !add);
}

function allAfter(states: State[], call: Operation): State[] {
  return distinct(states.flatMap((state) => after(state, call)));
}

function textsOf(states: State[]): string {
  return states.map(textOf).sort().join();
}

function after(state: State, { outcomes }: Operation): State[] {
  return outcomes.filter((outcome) => isPossible(state, outcome)).map((outcome) => changed(state, outcome));
}

function isPossible(state: State, { when = {} }: Outcome): boolean {
  return Object.entries(when).every(([name, [least, most]]) => {
    const value = state[name] ?? 0;
    return value >= least && value <= most;
  });
}

function changed(state: State, { set = {}, add = {} }: Outcome): State {
  const next = { ...state, ...set };
  for (const [name, amount] of Object.entries(add)) next[name] = (next[name] ?? 0) + amount;
  return next;
}

function distinct(states: State[]): State[] {
  return states.length < 2 ? states : [...new Map(states.map((state) => [textOf(state), state])).values()];
}

function textOf(state: State): string {
  const set = Object.entries(state).filter(([, value]) => value !== 0);
  return set
    .map(([name, value]) => `${name}=${value}`)
    .sort()
    .join(' ');
}

function keyOf(taken: Uint8Array): string {
  return Buffer.from(taken).toString('latin1');
}

function firstToEnd(calls: Operation[], taken: Uint8Array): string {
  const open = calls.filter((_, i) => !taken[i]);
  return open.reduce((first, call) => (call.return < first.return ? call : first)).label;
}
