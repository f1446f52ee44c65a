import type { ErrorBody, Job as JobAnswer, JobInEvent, JobInList, Webhook } from './api.ts';

// The types of the API for clients, generated from the API document.

export type * from './api.ts';

/** A job of any endpoint or event: lists have no segments, nor have events that would be too large. */
export type Job = JobInList &
  Partial<Pick<JobAnswer, 'segments' | 'queue_position'>> &
  Partial<Pick<JobInEvent, 'segments_omitted' | 'deleted'>>;

export type JobStatus = JobAnswer['status'];
export type Plan = JobAnswer['plan'];
export type EventType = Webhook['events'][number];
export type ErrorType = ErrorBody['error']['type'];

/** A page of a list, newest first. */
export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };
