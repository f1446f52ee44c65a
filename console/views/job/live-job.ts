import type { JobStreamEvents } from '#sdk/wire.ts';

type LiveSegment = Omit<JobStreamEvents['segment'], 'index'>;

/** What the event stream of an open job has said so far. */
export type LiveJob = {
  status: JobStreamEvents['status']['status'];
  queuePosition: number | null;
  /** What it waits for beside its turn; absent where it waits for its turn only. */
  wait?: Pick<JobStreamEvents['status'], 'waiting_for' | 'waiting_since'>;
  /** 0 to 1. */
  progress: number;
  segments: readonly LiveSegment[];
};

/** An event of the stream. */
export type LiveEvent = {
  [Name in keyof JobStreamEvents]: { type: Name; data: JobStreamEvents[Name] };
}[keyof JobStreamEvents];

/**
 * The job after further events, which arrive many a second and are applied together. A segment whose number is known
 * replaces the earlier one: the stream was opened again, or the job started again. A job that is queued again has none.
 */
export function applyEvents(job: LiveJob, events: readonly LiveEvent[]): LiveJob {
  const next = { ...job };
  let segments: LiveSegment[] | null = null;
  for (const { type, data } of events) {
    if (type === 'status') {
      next.status = data.status;
      next.queuePosition = data.queue_position ?? null;
      next.wait = { waiting_for: data.waiting_for, waiting_since: data.waiting_since };
      if (data.status === 'queued') segments = [];
    } else if (type === 'progress') next.progress = data.progress;
    else {
      const { index, ...segment } = data;
      segments ??= [...job.segments];
      segments[Math.min(index, segments.length)] = segment;
    }
  }
  return { ...next, segments: segments ?? job.segments };
}
