-- Jobs are their own queue: due when next_at has come, leased by moving next_at into the future, fenced by lease.

create table jobs (
  shard smallint not null,
  id text not null,
  account_id text not null,
  state text not null check (state in ('queued', 'processing', 'completed', 'failed', 'canceled')),
  plan text not null check (plan in ('lite', 'pro')),
  language text,
  word_times boolean not null,
  -- The client's JSON text, unchanged: text, because json would do but jsonb would reorder and round it.
  metadata text,
  filename text,
  format text not null,
  size_bytes bigint not null,
  -- Where the bytes are, in the storage; null once they are erased.
  audio_key text,
  -- What the probe showed; replaced by the decoded length when the job ends.
  duration_ms bigint not null,
  -- Units held at accept (0 for unlimited accounts) and units charged at the end.
  held_units bigint not null default 0,
  cost_units bigint,
  attempts smallint not null default 0,
  lease integer not null default 0,
  next_at timestamptz,
  progress real not null default 0,
  model text,
  detected_language text,
  -- The transcript: plain text, and the JSON text of the segments as the API shows them.
  transcript text,
  segments text,
  error_type text,
  error_message text,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  primary key (shard, id),
  -- docs/states.md draws these; rules/job-state.ts decides the moves.
  constraint ended_jobs_say_when check ((state in ('completed', 'failed', 'canceled')) = (completed_at is not null)),
  constraint waiting_jobs_are_due_some_time check ((state in ('queued', 'processing')) = (next_at is not null)),
  constraint failed_jobs_say_why check ((state = 'failed') = (error_type is not null)),
  constraint completed_jobs_have_text check (state <> 'completed' or transcript is not null)
);
create index jobs_due on jobs (shard, account_id, next_at) where state in ('queued', 'processing');
create index jobs_by_account on jobs (shard, account_id, id desc);
-- For the sweeps: audio of jobs that ended, and files that no job names.
create index jobs_with_audio on jobs (audio_key) where audio_key is not null;

-- When an account's last job was started: jobs start in turn over the accounts that have some waiting.
create table job_turns (
  shard smallint not null,
  account_id text not null,
  last_started_at timestamptz not null,
  primary key (shard, account_id)
);

-- What a job under way has found out so far, piece by piece, for whoever watches it. Gone when the job ends.
create table job_pieces (
  shard smallint not null,
  job_id text not null,
  -- The claim that wrote it: a job that is begun again starts anew.
  lease integer not null,
  number integer not null,
  -- The piece's segments as JSON text, as the API shows them.
  segments text not null,
  primary key (shard, job_id, lease, number)
);
