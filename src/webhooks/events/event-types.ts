import type { WebhookKind } from '../../rules/ids.ts';

// Which webhooks a type may be sent to; `may-receive.ts` decides by it.
const EVENTS_OF_JOBS: readonly WebhookKind[] = ['account', 'job'];
const TESTS: readonly WebhookKind[] = ['account', 'job', 'alerts'];
const ALERTS: readonly WebhookKind[] = ['alerts'];

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
    receivers: EVENTS_OF_JOBS,
  },
  'transcription.failed': {
    schemaName: 'TranscriptionFailed',
    when: 'A job ended without a transcript; `data.job.error` has the reason.',
    subject: 'job',
    exampleStatus: 'failed',
    receivers: EVENTS_OF_JOBS,
  },
  'webhook.test': {
    schemaName: 'WebhookTest',
    when: 'A test of a webhook was requested. It is sent to that webhook only.',
    subject: 'webhook',
    exampleStatus: null,
    receivers: TESTS,
  },
} as const;

export type EventType = keyof typeof EVENT_CATALOGUE;

export const EVENT_TYPES = Object.keys(EVENT_CATALOGUE) as EventType[];

/**
 * What an account is told of its webhooks. Webhooks do not subscribe to these: they go to the webhook for alerts, and
 * are in the account's list and stream of events.
 */
export const ALERT_CATALOGUE = {
  'webhook.disabled': {
    schemaName: 'WebhookDisabled',
    when: 'A webhook was disabled after failed attempts.',
    receivers: ALERTS,
  },
  'webhook.exhausted': {
    schemaName: 'WebhookExhausted',
    when: 'A delivery has used up its attempts. At most once an hour for a webhook.',
    receivers: ALERTS,
  },
} as const;

export type AlertType = keyof typeof ALERT_CATALOGUE;

/** @internal  the simulator tells them from the events of jobs */
export const ALERT_TYPES = Object.keys(ALERT_CATALOGUE) as AlertType[];

/** Of everything that is emitted. */
export type EmittedType = EventType | AlertType;

export const EMITTED_TYPES: readonly EmittedType[] = [...EVENT_TYPES, ...ALERT_TYPES];

/** What the `data` of an event holds, under the `subject` of its type. */
export type EventData =
  | { job: Record<string, unknown> }
  | { webhook: Record<string, unknown>; delivery?: Record<string, unknown> };
