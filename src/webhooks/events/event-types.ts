/**
 * Every event type, in the order in which clients see them. The API's schemas, the OpenAPI document, the SDK's types,
 * the console and docs/event-types.md are made from this table:
 * a new type is a row here and the code that emits the event.
 */
export const EVENT_CATALOGUE = {
  'transcription.completed': {
    schemaName: 'TranscriptionCompleted',
    when: 'A job ended with a transcript. Synchronous requests emit it too.',
    subject: 'job',
    exampleStatus: 'completed',
  },
  'transcription.failed': {
    schemaName: 'TranscriptionFailed',
    when: 'A job ended without a transcript; `data.job.error` has the reason.',
    subject: 'job',
    exampleStatus: 'failed',
  },
  'webhook.test': {
    schemaName: 'WebhookTest',
    when: 'A test of a webhook was requested. It is sent to that webhook only.',
    subject: 'webhook',
    exampleStatus: null,
  },
} as const;

export type EventType = keyof typeof EVENT_CATALOGUE;

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];

/** What the `data` of an event holds, under the `subject` of its type. */
export type EventData = { job: Record<string, unknown> } | { webhook: Record<string, unknown> };
