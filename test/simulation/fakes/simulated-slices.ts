import { Slices } from '../../../src/platform/slices.ts';

/** Everything is done in one turn, and the turn comes at once: both must follow from the seed, not from the machine. */
export const SIMULATED_SLICES = new Slices({ sliceMs: Number.POSITIVE_INFINITY, nextTurn: queueMicrotask });
