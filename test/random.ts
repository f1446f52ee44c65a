/** Seeded chance for property tests: the same seed gives the same run. */
export type Random = {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  integer(below: number): number;
  pick<Item>(items: readonly Item[]): Item;
};

/** @param seed  any whole number; name it in the test */
export function randomFrom(seed: number): Random {
  // mulberry32: 32 bits of state are plenty for a few thousand cases.
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number) => Math.floor(next() * below);
  return { next, integer, pick: (items) => items[integer(items.length)]! };
}
