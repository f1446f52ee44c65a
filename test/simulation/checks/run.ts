import type { Call, ClockStep } from '../environment.ts';
import type { Spoken } from '../live/speaker.ts';
import type { Arrival, SentRequest } from '../receivers.ts';
import type { Change } from '../schema.ts';

/** The record of a run, for the checks. */
export type Run = {
  changes: Change[];
  arrivals: Arrival[];
  sent: SentRequest[];
  memory: Memory;
  calls: Call[];
  /** Processes that have ended: the name under which they held leases, and the time. */
  endedAtMs: Map<string, number>;
  /** Times at which the database's clock was set forward. */
  clockSteps: ClockStep[];
  /** Deliveries that only the search of all webhooks found. */
  foundLate: number;
  /** The live sessions, as their clients know them. */
  spoken: Spoken[];
  /** Promises to clients of live sessions that were not true. */
  liveViolations: string[];
  /** The database's time after the last fault. */
  calmAtMs: number;
  /** Only receivers and engines failed in this run. */
  isFaultless: boolean;
  /** No job and no delivery was open at the end. */
  isOver: boolean;
};

/** The answers that the clients got: the service must keep to them. */
export type Memory = {
  /** Jobs that were answered 202. */
  accepted: Set<string>;
  /** Jobs for which a DELETE was sent, answered or not. */
  deleted: Set<string>;
  /** All secrets of each webhook that an answer contained. */
  secrets: Map<string, string[]>;
  /** Webhooks for which an answer with a secret was lost. */
  uncertain: Set<string>;
};
