import type { Config } from '../../config/settings.ts';
import type { Database, DatabaseOptions } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Metrics } from '../../platform/metrics.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { RoleStatus, StartOrder, ToChild, ToParent } from '../messages.ts';

/** What every role gets. */
export type RoleContext = {
  config: Config;
  log: Log;
  clock: Clock;
  /** Reports to the parent, and so to /readyz, whether the role can work. */
  report(status: RoleStatus): void;
  order: StartOrder;
  db: Database;
  /** Of the whole process. */
  metrics: Metrics;
  tracer: Tracer;
  /** Ends the whole service, because the role cannot start. */
  fail(message: string): void;
  /** Messages from the parent that are for this role alone. */
  onMessage(handler: (message: ToChild) => void): void;
  send(message: ToParent): void;
};

export type RunningRole = {
  stop(): Promise<void>;
  /** Updates the metrics that are measured when they are read. */
  measure?(): Promise<void>;
};
/** What a role chooses for its pool. */
export type RoleDatabase = Pick<DatabaseOptions, 'plansOnce' | 'notifyIntervalMs'>;

export type RoleModule = RoleDatabase & {
  start(context: RoleContext): Promise<RunningRole>;
};
