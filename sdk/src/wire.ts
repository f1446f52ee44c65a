/** The API's JSON, as it goes over the wire: snake_case, times in ISO 8601 UTC, durations with their unit in the name. */

export type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };

export type Plan = 'lite' | 'pro';
export type JobStatus = 'queued' | 'processing' | 'completed' | 'failed' | 'canceled';
export type JobErrorType = 'unprocessable_audio' | 'insufficient_balance' | 'engine_error' | 'engine_timeout';

/** Times in seconds from the start of the audio. */
export type Word = { start: number; end: number; text: string; confidence: number | null };

/** `words` only where the request asked for `timestamps=word`. */
export type Segment = { start: number; end: number; text: string; confidence: number | null; words?: Word[] };

export type JobAudio = {
  filename: string | null;
  format: string;
  duration_seconds: number;
  size_bytes: number;
};

export type Job = {
  id: string;
  status: JobStatus;
  plan: Plan;
  model: string | null;
  language: string | null;
  audio: JobAudio;
  /** As the request carried it; absent when it carried none. */
  metadata?: JsonValue;
  /** Null until completed. */
  text: string | null;
  /** Null until completed; absent in lists, and in deliveries that would be too large. */
  segments?: Segment[] | null;
  /** True in a delivery that left the segments out. */
  segments_omitted?: true;
  error: { type: JobErrorType; message: string } | null;
  /** In credits; null until known. */
  cost: number | null;
  /** 0 to 1. */
  progress: number;
  /** 1 for the next one to start; only on a queued job that is read by itself. */
  queue_position?: number;
  /** True in an event whose job was erased since. */
  deleted?: true;
  created_at: string;
  started_at: string | null;
  completed_at: string | null;
};

/** What `GET /v1/jobs/:id/events` sends, by the name of the event. */
export type JobStreamEvents = {
  status: { id: string; status: JobStatus; queue_position?: number; error: Job['error'] };
  progress: { progress: number };
  /** A number that came before takes the place of the earlier one: the job had to be begun again. */
  segment: Segment & { index: number };
};

export type EventType = 'transcription.completed' | 'transcription.failed' | 'webhook.test';

export type Webhook = {
  id: string;
  url: string;
  events: EventType[];
  description: string | null;
  active: boolean;
  disabled_reason: 'manual' | 'consecutive_failures' | null;
  disabled_at: string | null;
  consecutive_failures: number;
  failing_since: string | null;
  created_at: string;
  updated_at: string;
};

/** What creation and rotation answer: the only times the secret is shown. */
export type WebhookWithSecret = Webhook & { secret: string };

/** What a receiver is sent. */
export type Event<Type extends EventType, Data> = {
  id: string;
  type: Type;
  created_at: string;
  /** As the request carried it; absent when it carried none. */
  metadata?: JsonValue;
  data: Data;
};

export type TranscriptionCompleted = Event<'transcription.completed', { job: Job }>;
export type TranscriptionFailed = Event<'transcription.failed', { job: Job }>;
export type WebhookTest = Event<'webhook.test', { webhook: Webhook }>;
export type AnyEvent = TranscriptionCompleted | TranscriptionFailed | WebhookTest;

export type FailureReason =
  | 'http_status'
  | 'redirect'
  | 'timeout'
  | 'dns'
  | 'forbidden_address'
  | 'connect'
  | 'tls'
  | 'reset'
  | 'protocol';

/** One attempt that was made, or the one that waits. */
export type Delivery = {
  id: string;
  webhook_id: string;
  event_id: string;
  event_type: EventType;
  url: string;
  /** 1 to 4. */
  attempt: number;
  status: 'succeeded' | 'failed' | 'pending' | 'dropped';
  response_status: number | null;
  error: { reason: FailureReason; message: string } | null;
  duration_ms: number | null;
  timings: {
    dns_ms: number | null;
    connect_ms: number | null;
    tls_ms: number | null;
    first_byte_ms: number | null;
  } | null;
  created_at: string;
  completed_at: string | null;
  next_attempt_at: string | null;
};

export type Balance = {
  /** In credits; null when unlimited. */
  amount: number | null;
  held: number;
  units: 'credits';
  unlimited: boolean;
  /** Credits per minute of audio. */
  rates: Record<Plan, number>;
  plan: Plan;
};

/** A page of a list, newest first. */
export type Page<Item> = { data: Item[]; has_more: boolean; next_cursor: string | null };

export type ErrorType =
  | 'invalid_request'
  | 'forbidden_url'
  | 'unauthenticated'
  | 'insufficient_balance'
  | 'plan_limit'
  | 'not_found'
  | 'method_not_allowed'
  | 'conflict'
  | 'too_large'
  | 'unsupported_media_type'
  | 'unprocessable_audio'
  | 'rate_limited'
  | 'internal'
  | 'unavailable';

/** What every error of every endpoint looks like. */
export type ErrorBody = {
  error: { message: string; code: number; type: ErrorType; param?: string };
  request_id: string;
  /** With `rate_limited`: whole seconds after which one request will pass. */
  retry_after?: number;
  /** With `insufficient_balance` at the start: what the audio costs, and what the balance holds. */
  needed_credits?: number;
  available_credits?: number;
  /** With a synchronous transcription that failed. */
  job_id?: string;
};
