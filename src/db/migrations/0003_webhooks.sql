-- Webhooks, the events they are told of, the deliveries that wait, and the log of attempts.

create table webhooks (
  shard smallint not null,
  id text not null,
  account_id text not null,
  url text not null,
  events text[] not null,
  description text,
  active boolean not null default true,
  disabled_reason text check (disabled_reason in ('manual', 'consecutive_failures')),
  disabled_at timestamptz,
  -- The streak that disables: counted in the statement that records the attempts, once per attempt.
  consecutive_failures integer not null default 0,
  failing_since timestamptz,
  -- AES-256-GCM with the webhook's id as associated data.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_ends_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (shard, id),
  constraint disabled_webhooks_say_why check (active = (disabled_reason is null) and active = (disabled_at is null))
);
create index webhooks_by_account on webhooks (shard, account_id, id desc);

create table events (
  shard smallint not null,
  id text not null,
  account_id text not null,
  type text not null,
  job_id text,
  -- Serialised once: stored, signed and sent as these bytes.
  body bytea not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index events_by_account on events (shard, account_id, id desc);
-- For erasing a job.
create index events_by_job on events (shard, job_id) where job_id is not null;

-- One row per event and webhook (and per later redelivery) while it is not settled.
create table deliveries (
  shard smallint not null,
  id text not null,
  account_id text not null,
  webhook_id text not null,
  event_id text not null,
  event_type text not null,
  -- waiting: for next_at. sending: claimed, next_at is the lease's end; due again after it, with the same attempt number.
  state text not null check (state in ('waiting', 'sending', 'succeeded', 'exhausted', 'dropped')),
  attempt smallint not null default 1,
  -- The id that the next attempt will carry (X-Service-Delivery-Id); a lost lease gets a new one.
  attempt_id text not null,
  lease integer not null default 0,
  next_at timestamptz,
  created_at timestamptz not null,
  primary key (shard, id),
  constraint open_deliveries_are_due_some_time check ((state in ('waiting', 'sending')) = (next_at is not null))
);
create index deliveries_due on deliveries (shard, next_at) where state in ('waiting', 'sending');
create index deliveries_open_by_webhook on deliveries (shard, webhook_id, next_at) where state in ('waiting', 'sending');
-- How many attempts a webhook has in flight.
create index deliveries_sending on deliveries (shard, webhook_id) where state = 'sending';
create index deliveries_by_event on deliveries (shard, event_id);

-- The log: one row per attempt made, or dropped. By day, so that old days are dropped and not deleted.
create table attempts (
  shard smallint not null,
  id text not null,
  account_id text not null,
  webhook_id text not null,
  event_id text not null,
  event_type text not null,
  delivery_id text not null,
  url text not null,
  attempt smallint not null,
  status text not null check (status in ('succeeded', 'failed', 'dropped')),
  response_status smallint,
  error_reason text,
  error_message text,
  duration_ms real,
  dns_ms real,
  connect_ms real,
  tls_ms real,
  first_byte_ms real,
  remote_address text,
  request_headers text,
  response_headers text,
  response_body bytea,
  created_at timestamptz not null,
  completed_at timestamptz not null,
  -- The order in which a webhook's log is read: one index for both.
  primary key (shard, webhook_id, id, created_at)
) partition by range (created_at);
create index attempts_by_event on attempts (shard, event_id);

-- Takes what no day's partition covers; stays empty while the janitor makes the days ahead.
create table attempts_default partition of attempts default;
