import type { ErrorBody, Job as JobAnswer, JobInEvent, JobInList, Webhook } from './api.ts';

// The names under which clients know the types of the API; all of them are made from the API document.

export type * from './api.ts';

/** A job as any endpoint or event shows it: lists leave the segments out, and so do events that would be too large. */
export type Job = JobInList &
  Partial<Pick<JobAnswer, 'segments' | 'queue_position'>> &
  Partial<Pick<JobInEvent, 'segments_omitted' | 'deleted'>>;

export type JobStatus = JobAnswer['status'];
export type Plan = JobAnswer['plan'];
export type EventType = Webhook['events'][number];
export type ErrorType = ErrorBody['error']['type'];

/** A page of a list, newest first. */
export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };
