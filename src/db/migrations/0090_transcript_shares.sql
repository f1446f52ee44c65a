-- Links that show the transcript of a job to whoever has them: src/jobs/sharing/.
create table transcript_shares (
  shard smallint not null,
  id text not null,
  account_id text not null,
  job_id text not null,
  -- The key that made the link, or the membership of a user: the link ends with it.
  key_id text not null,
  -- SHA-256 of the link's token.
  hash bytea not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  opened_count bigint not null default 0,
  last_opened_at timestamptz,
  primary key (shard, id)
);
create unique index transcript_shares_by_hash on transcript_shares (shard, hash);
create index transcript_shares_by_job on transcript_shares (shard, job_id);
create index transcript_shares_expired on transcript_shares (shard, expires_at);
