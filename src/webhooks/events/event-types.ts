/**
 * Every event type, in the order in which the documentation shows them. The webhook schema, the API document, the SDK's
 * types and the console follow this table; code that emits a new type is all that a new row needs.
 */
export const EVENT_CATALOGUE = {
  'transcription.completed': {
    schemaName: 'TranscriptionCompleted',
    when: 'A job ended with a transcript, asynchronous or not.',
    subject: 'job',
  },
  'transcription.failed': {
    schemaName: 'TranscriptionFailed',
    when: 'A job ended without a transcript; `data.job.error` says why.',
    subject: 'job',
  },
  'webhook.test': {
    schemaName: 'WebhookTest',
    when: 'A test was asked for one webhook; it is sent to that webhook alone.',
    subject: 'webhook',
  },
} as const;

export type EventType = keyof typeof EVENT_CATALOGUE;

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];

/** What the `data` of an event holds. `segments_omitted` is set by emit when the body would be too large. */
export type EventData = { job: Record<string, unknown> } | { webhook: Record<string, unknown> };
