import type { Config } from '../config/settings.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Tracer } from '../platform/tracing/tracer.ts';
import type { Database } from './database.ts';

/**
 * What the parts of every role run on. A folder that needs more names it in a type of its own, such as `JobsRuntime`.
 */
export type Runtime = {
  config: Config;
  db: Database;
  clock: Clock;
  log: Log;
  /** Absent: no spans. */
  tracer?: Tracer;
};
