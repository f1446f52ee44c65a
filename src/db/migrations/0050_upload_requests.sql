-- Which upload made which job, for clients that send an upload again without an Idempotency-Key: src/jobs/repeats/.
create table upload_requests (
  shard smallint not null,
  job_id text not null,
  account_id text not null,
  -- SHA-256 in hex of the endpoint, the API key, the fields and the file.
  digest text not null,
  -- Whether the caller hung up before the answer.
  is_unanswered boolean not null default false,
  expires_at timestamptz not null,
  primary key (shard, job_id)
);
create index upload_requests_by_digest on upload_requests (shard, account_id, digest);
create index upload_requests_expired on upload_requests (shard, expires_at);
