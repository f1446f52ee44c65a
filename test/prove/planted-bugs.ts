/** A bug in the service, as a change of its bundle, and the promise that it breaks. */
export type PlantedBug = {
  /** What would go wrong. */
  name: string;
  /** Words of the name of the promise. */
  promise: string;
  /** A text that the bundle has exactly once, and what is in its place. */
  original: string;
  changed: string;
};

export const PLANTED_BUGS: readonly PlantedBug[] = [
  {
    name: 'a hold may overdraw the balance',
    promise: 'the balance',
    original: 'leastAmount: 0,',
    changed: 'leastAmount: null,',
  },
  {
    name: 'another node takes a revoked key as long as it knows it',
    promise: 'a revoked key',
    original: 'if (known && this.#monotonicMs() < known.endsAtMs) return known.caller;',
    changed: 'if (known) return known.caller;',
  },
  {
    name: 'an event that the receiver answers with 503 counts as delivered',
    promise: 'reaches each webhook',
    original: 'if (status >= 200 && status <= 299) return {',
    changed: 'if (status >= 200) return {',
  },
];
