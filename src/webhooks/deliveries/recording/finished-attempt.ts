import type { ValuesOf } from '../../../db/statements/columns.ts';
import type { ATTEMPT_TABLE } from '../../events/attempt-table.ts';

type Table = typeof ATTEMPT_TABLE;

/** The result of one attempt. `follow-attempts.ts` decides what follows. */
export type FinishedAttempt = ValuesOf<Table['delivery'] & Table['shown'] & Table['result'] & Table['content']> & {
  shard: number;
  /**
   * The attempt is recorded only while its shard has this epoch: since it started, one deliverer has owned the shard.
   */
  epoch: number;
  /** The attempt is recorded only while the delivery waits under this id. */
  attemptId: string;
  /** As in `WaitingDelivery`. */
  jobId: string | null;
  traceparent: string | null;
  durationMs: number;
  succeeded: boolean;
  /** The delay before the next attempt that the receiver asks for; null when it asks for none. */
  askedMs: number | null;
  completedAt: Date;
};
