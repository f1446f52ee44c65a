/** Every event there is, in the order in which the documentation shows them. */
export const EVENT_TYPES = ['transcription.completed', 'transcription.failed', 'webhook.test'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** What the `data` of an event holds. `segments_omitted` is set by emit when the body would be too large. */
export type EventData = { job: Record<string, unknown> } | { webhook: Record<string, unknown> };

/** When each event is emitted and what its `data` holds: the source of the reference pages. */
export const EVENT_CATALOGUE: Record<EventType, { when: string; data: 'job' | 'webhook' }> = {
  'transcription.completed': { when: 'A job ended with a transcript, asynchronous or not.', data: 'job' },
  'transcription.failed': { when: 'A job ended without a transcript; `data.job.error` says why.', data: 'job' },
  'webhook.test': { when: 'A test was asked for one webhook; only that webhook is told.', data: 'webhook' },
};

export function isEventType(text: string): text is EventType {
  return (EVENT_TYPES as readonly string[]).includes(text);
}
