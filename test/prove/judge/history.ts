/**
 * One way in which a call may have acted on the state, which is whole numbers by name: possible while each named number
 * lies within its bounds. Numbers that were never set are 0.
 */
export type Outcome = {
  when?: Record<string, readonly [least: number, most: number]>;
  set?: Record<string, number>;
  add?: Record<string, number>;
};

/** One call: it acted at one instant between its two times (in µs), in one of these ways. Without any it is refused. */
export type Operation = { label: string; call: number; return: number; outcomes: Outcome[] };

/** The calls on one object. It is legal when some order of them is possible from the start, each within its times. */
export type History = { name: string; start: Record<string, number>; operations: Operation[] };

export type Verdict = 'accepted' | 'refused' | 'undecided';

/** After every answer: the return of a call of which nobody knows when it ends. */
export const NEVER = Number.MAX_SAFE_INTEGER;

/** No bound. */
export const ANY = Number.MAX_SAFE_INTEGER;

export function exactly(value: number): readonly [number, number] {
  return [value, value];
}

/** What a call without an answer did: nothing, or this. */
export function perhaps(outcome: Outcome): Outcome[] {
  return [outcome, {}];
}
