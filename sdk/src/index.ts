export * from './webhooks/index.ts';
export type * from './wire.ts';
