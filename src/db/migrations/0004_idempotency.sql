-- Idempotency keys: who holds one now, what its request made, and the first answer, given again for 24 hours.

create table idempotency_keys (
  shard smallint not null,
  -- The operator's keys stand in shard 0 under the name admin.
  account_id text not null,
  key text not null,
  -- Method and path of the request that took the key.
  route text not null,
  state text not null check (state in ('running', 'answered')),
  -- Who holds the key: counted up by every request that takes it, renewed by its process, over when that died.
  lease integer not null,
  lease_ends_at timestamptz not null,
  expires_at timestamptz not null,
  -- SHA-256 of the body, in hex; of an upload: of its fields and its file, whatever the boundary.
  fingerprint text,
  -- Written in the transaction that inserts the job: a retry after a crash is answered with it.
  job_id text,
  status smallint,
  content_type text,
  location text,
  -- AES-256-GCM: a kept answer may show a secret that is shown only once.
  body bytea,
  primary key (shard, account_id, key),
  constraint answered_keys_know_their_request check (state <> 'answered' or (status is not null and fingerprint is not null)),
  constraint jobs_know_their_request check (job_id is null or fingerprint is not null)
);
create index idempotency_keys_expired on idempotency_keys (expires_at);
-- Erasing a job erases the answers that show it.
create index idempotency_keys_by_job on idempotency_keys (shard, job_id) where job_id is not null;
