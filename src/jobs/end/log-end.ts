import type { Log } from '../../platform/log.ts';
import { traceField } from '../../rules/network/traceparent.ts';
import type { Job } from '../job.ts';

/**
 * The log line of a job that has ended. The ids of its event and of its deliveries lead to the lines of their attempts,
 * which have them too.
 */
export function logEnd(log: Log, job: Job, recorded: { eventId: string; deliveryIds: string[] }): void {
  const { startedAt, createdAt, completedAt } = job;
  log.info(
    {
      job_id: job.id,
      ...traceField(job.traceparent),
      account_id: job.accountId,
      event_id: recorded.eventId,
      delivery_ids: recorded.deliveryIds,
      plan: job.plan,
      model: job.model,
      state: job.state,
      error_type: job.errorType,
      warnings: job.warnings.map(({ code }) => code),
      attempt: job.attempts,
      audio_ms: job.durationMs,
      waited_ms: (startedAt ?? completedAt!).getTime() - createdAt.getTime(),
      ran_ms: startedAt === null ? 0 : completedAt!.getTime() - startedAt.getTime(),
    },
    'job',
  );
}
