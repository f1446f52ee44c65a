export type * from './api.ts';
export type { Job } from './client/index.ts';
export * from './client/index.ts';
export * from './webhooks/index.ts';
export type { ErrorType, EventType, JobStatus, Page, Plan } from './wire.ts';
