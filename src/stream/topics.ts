import type { Scope } from '../rules/accounts/scopes.ts';

/** What an account stream can report, each with the scope that its readers need. */
export const TOPIC_SCOPES = {
  events: 'webhooks:read',
  jobs: 'jobs:read',
  deliveries: 'webhooks:read',
} as const satisfies Record<string, Scope>;

export type Topic = keyof typeof TOPIC_SCOPES;

export const TOPICS = Object.keys(TOPIC_SCOPES) as Topic[];
