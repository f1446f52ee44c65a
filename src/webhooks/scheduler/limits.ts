import { BOUNDS } from '../../rules/bounds.ts';

export type StartLimits = {
  /** Attempts of one webhook in flight. */
  inFlightPerWebhook: number;
  /** Attempts of this process in flight. */
  inFlight: number;
  /** From here on only healthy webhooks start attempts. */
  healthyOnlyFrom: number;
  /** Attempts of degraded webhooks in flight. */
  degradedInFlight: number;
};

export type SchedulerLimits = StartLimits & {
  /** Entries in memory, those in flight and those to be recorded included. */
  total: number;
  /** Waiting entries of one webhook; fewer when memory is short. */
  perWebhook: number;
  /** A retry that is due within this time waits in memory. */
  aheadMs: number;
};

/** So many turns of healthy webhooks come before one of a degraded webhook while both want one. */
export const HEALTHY_PER_DEGRADED = 8;

export const LIMITS: SchedulerLimits = {
  // About 8 MB without bodies.
  total: 20_000,
  // Eight times what may be in flight: a refill costs as much as 20 of its rows, and takes less time than the rest.
  perWebhook: 128,
  aheadMs: BOUNDS.deliveryAheadMs,
  inFlightPerWebhook: 16,
  // Each TLS socket that hangs takes about 100 KB of memory.
  inFlight: 8_192,
  // Receivers that hang cannot use the rest.
  healthyOnlyFrom: 6_144,
  // About as many get through the handshake limiter before the last of them has waited too long.
  degradedInFlight: 1_536,
};

/** Of one read of what became due. */
export const READ_LIMITS = {
  rows: 1_000,
  /** Webhooks whose rows are left out: a read that leaves out more takes longer than one that brings their rows. */
  leftOut: 100,
  /** Rows in memory that a read names. Those beyond are read again, and ignored. */
  known: 5_000,
};
