import type { Job as JobAnswer } from '../api.ts';

/** A job. */
export type Job = JobAnswer & {
  /** `metadata` as JSON text, in which numbers keep all their digits; null without it. */
  metadataText: string | null;
};

/** A job with its transcript. */
export type CompletedJob = Job & { status: 'completed'; text: string; segments: NonNullable<JobAnswer['segments']> };

/** Whether the job has ended, in whichever way. */
export function hasEnded({ status }: Pick<JobAnswer, 'status'>): boolean {
  return status === 'completed' || status === 'failed' || status === 'canceled';
}
