import type { ErrorBody, Job, Webhook } from './api.ts';

// The types of the API for clients, generated from the API document.

export type * from './api.ts';

export type JobStatus = Job['status'];
export type Plan = Job['plan'];
export type EventType = Webhook['events'][number];
export type ErrorType = ErrorBody['error']['type'];

/** A page of a list, newest first. */
export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };
