-- The primary key of most tables begins with shard, a hash of the account from 0 to 63, so that they can be partitioned
-- by it. Exceptions: audit_log, nodes, users, invitations, plan_engines, deliveries, deliverers.

-- Accounts: keys, balance, rate limits.

create table accounts (
  shard smallint not null,
  id text not null,
  name text not null,
  plan text not null,
  -- Units: one credit is 60,000,000 of them (ms of audio x thousandths of a credit per minute). See rules/price.ts.
  -- amount can be spent; held is reserved for accepted jobs. Both are sums over the account's ledger entries.
  unlimited boolean not null,
  amount bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  -- The number of the last ledger entry.
  ledger_number bigint not null default 0,
  -- Its keys are refused and its deliveries wait; null: no.
  suspended_at timestamptz,
  -- It does not exist for the API any more; what is its is erased, and for a day what late requests add.
  deleted_at timestamptz,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index accounts_deleted on accounts (deleted_at) where deleted_at is not null;

-- People. Few rows, found by an email before an account is known: no shard.
create table users (
  id text primary key,
  -- In lower case.
  email text not null,
  name text not null,
  -- argon2id with its parameters and salt, see accounts/people/password.ts; null: this user has no password.
  password_hash text,
  -- Who the OpenID provider says that this is; both null until the first sign-in by way of it.
  oidc_issuer text,
  oidc_subject text,
  -- Whether a session of this user permits what the operator's token permits.
  is_operator boolean not null,
  created_at timestamptz not null
);
create unique index users_by_email on users (email);
create unique index users_by_subject on users (oidc_issuer, oidc_subject);

-- Links by which somebody joins an account; deleted when they are used. Few rows: no shard.
create table invitations (
  id text primary key,
  account_id text not null,
  role text not null,
  -- In lower case: the only address that may use the link; null: any.
  email text,
  -- SHA-256 of the link's token: 256 random bits need no slow hash.
  hash bytea not null,
  -- Whether an operator made it, which lets it set a new password for a user who exists.
  is_by_operator boolean not null,
  -- Whether whoever accepts it becomes an operator.
  makes_operator boolean not null,
  created_by text references users (id) on delete set null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index invitations_by_hash on invitations (hash);
create index invitations_by_account on invitations (account_id, id);

create table api_keys (
  shard smallint not null,
  id text not null,
  account_id text not null,
  name text,
  prefix text not null,
  -- SHA-256 of the key: 256 random bits need no slow hash. Null for a membership, which no request can send.
  hash bytea,
  -- Names of rules/scopes.ts; empty: all scopes.
  scopes text[] not null default '{}',
  expires_at timestamptz,
  -- Written at most twice a minute.
  last_used_at timestamptz,
  -- The key of a link to the console: deleted after it has expired.
  is_portal boolean not null default false,
  -- The key of a link to the console by which this key was made, by itself or by a key that it made: they end together.
  created_by_key text,
  -- The user who made the key; null: a key or the token of the operator made it, or the user is gone.
  created_by text references users (id) on delete set null,
  -- A membership: the row is what the sessions of this user in this account begin with. Null for keys.
  user_id text references users (id) on delete cascade,
  -- Of a membership: a name of rules/accounts/roles.ts, from which its scopes follow.
  role text,
  created_at timestamptz not null,
  primary key (shard, id),
  constraint api_keys_are_keys_or_memberships check ((hash is null) = (user_id is not null and role is not null))
);
create unique index api_keys_by_user on api_keys (user_id, account_id) where user_id is not null;
create unique index api_keys_by_hash on api_keys (hash);
create index api_keys_by_account on api_keys (shard, account_id, id);

-- Who is signed in to the console: sessions that the cookie of a browser names.
create table sessions (
  shard smallint not null,
  id text not null,
  -- SHA-256 of the cookie's value: 256 random bits need no slow hash.
  hash bytea not null,
  -- The key that signed in, or the membership of the user who did. The session has its account and its scopes, and
  -- ends with it.
  key_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (shard, id),
  foreign key (shard, key_id) references api_keys (shard, id) on delete cascade
);
create unique index sessions_by_hash on sessions (hash);
create index sessions_by_key on sessions (shard, key_id, id);
create index sessions_by_expiry on sessions (expires_at);

create table ledger (
  shard smallint not null,
  id text not null,
  account_id text not null,
  -- 1, 2, 3, … without gaps, in the order of the commits: the account's row is locked from the number to the commit.
  number bigint not null,
  -- credit, hold, capture or release.
  kind text not null,
  -- Added to the account's amount and held, in units.
  amount_change bigint not null,
  held_change bigint not null,
  -- The account's amount and held after the entry.
  amount_after bigint not null,
  held_after bigint not null,
  job_id text,
  note text,
  created_at timestamptz not null,
  primary key (shard, account_id, number)
);

-- The sums of an account's ledger up to and including one entry; see accounts/ledger/drift.ts.
create table ledger_checks (
  shard smallint not null,
  account_id text not null,
  -- The number of the last ledger entry in the sums.
  through_number bigint not null,
  amount bigint not null,
  held bigint not null,
  primary key (shard, account_id)
);

create table rate_windows (
  shard smallint not null,
  account_id text not null,
  bucket text not null,
  -- When the requests of the last window were admitted; never longer than the limit.
  admitted timestamptz[] not null,
  primary key (shard, account_id, bucket)
);

-- What operators and keys changed. Few rows, read by operators only: no shard.
create table audit_log (
  id text primary key,
  -- The account that was changed.
  account_id text not null,
  -- The key, or the membership of the user. Null: the operator.
  key_id text,
  -- The user of the session, also of an operator's; null: a key or the operator's token.
  user_id text,
  action text not null,
  target_id text not null,
  -- Names of changed fields, plans, amounts, scopes: never a secret, a URL or a body.
  details jsonb not null,
  -- The SHA-256 of a key that was deleted: requests with it are told apart from those with an unknown key.
  key_hash bytea,
  -- Peer address of the connection; behind a proxy, the proxy's.
  address text not null,
  request_id text not null,
  created_at timestamptz not null
);
create index audit_log_by_account on audit_log (account_id, id desc);
create index audit_log_by_age on audit_log (created_at);
create index audit_log_by_key_hash on audit_log (key_hash) where key_hash is not null;

-- Nodes that share the database, each with one row, updated every 10 s. Few rows, read by operators only: no shard.
create table nodes (
  id text primary key,
  host text not null,
  version text not null,
  roles text[] not null,
  ready boolean not null,
  reasons text[] not null,
  started_at timestamptz not null,
  seen_at timestamptz not null
);

-- Jobs. The table is also the job queue: a claim sets holder, increments lease (the fence) and sets next_at to the end
-- of the lease.

create table jobs (
  shard smallint not null,
  id text not null,
  account_id text not null,
  -- The API key that sent the job.
  key_id text,
  state text not null,
  plan text not null,
  language text,
  word_times boolean not null,
  -- What else the request asked for: jobs/options.ts.
  options jsonb not null default '{}',
  -- The client's JSON text, unchanged; jsonb would reorder keys and round numbers.
  metadata text,
  filename text,
  -- Null while the audio is fetched from a URL, and when that failed; likewise the size and the length.
  format text,
  size_bytes bigint,
  -- The file's audio tracks as the API shows them; empty while they are unknown.
  tracks jsonb not null default '[]',
  -- Where the audio is in the storage; null until it is fetched, and once it is erased.
  audio_key text,
  -- Origin and path of the URL of the audio; null for an upload.
  audio_source text,
  -- From the probe; replaced by the decoded length when the job ends.
  duration_ms bigint,
  -- Whether its audio comes over a live session: live_sessions.
  is_live boolean not null default false,
  -- Whether its account has no balance, which never changes.
  unlimited boolean not null default false,
  -- Units held (0 for unlimited accounts) and units charged at the end. held_units grows with the decoded length.
  held_units bigint not null default 0,
  cost_units bigint,
  -- Cost of the audio whose text could be read while the job ran: charged when the job is canceled, or fails because of
  -- its audio or the balance.
  transcribed_units bigint not null default 0,
  attempts smallint not null default 0,
  lease integer not null default 0,
  -- The process that works on the job: <node>/<process>. Its leases end at once when the process or node is known to
  -- have ended.
  holder text,
  next_at timestamptz,
  progress real not null default 0,
  model text,
  detected_language text,
  -- The transcript: plain text, and the segments as JSON text as the API returns them.
  transcript text,
  segments text,
  -- The list of speakers as the API returns it; null where nobody asked for it, and where they were not found.
  speakers jsonb,
  -- The words of segments that were asked for without words, packed by rules/transcript/packed-words.ts; null without any.
  words text,
  -- Written when the job ends: rules/jobs/warnings.ts.
  warnings jsonb not null default '[]',
  -- The lowest and highest sample of at most 2,000 parts of the audio, two bytes each; see rules/jobs/peaks.ts.
  peaks bytea,
  -- New texts of segments by their number; null where the transcript was not edited.
  edits jsonb,
  -- Names of speakers by their labels; null where none was named.
  speaker_names jsonb,
  edited_at timestamptz,
  error_type text,
  error_message text,
  -- Of error_type audio_fetch_failed: why, and the status that the server answered.
  error_reason text,
  error_http_status smallint,
  created_at timestamptz not null,
  started_at timestamptz,
  completed_at timestamptz,
  -- When an ended job is to be erased; null unless the request named a time (delete_after_seconds).
  expires_at timestamptz,
  primary key (shard, id),
  -- The states are in docs/states.md, the transitions in rules/job-state.ts. PostgreSQL parses each constraint again for
  -- each statement that writes: lists of values would cost as much as the rest of an insert.
  constraint jobs_open_have_next_at check ((state = 'queued' or state = 'processing') = (next_at is not null)),
  constraint jobs_ended_have_completed_at check ((next_at is null) = (completed_at is not null)),
  constraint jobs_failed_have_error check ((state = 'failed') = (error_type is not null)),
  constraint jobs_completed_have_transcript check (state <> 'completed' or transcript is not null)
);
-- ANALYZE would copy a client's texts to the statistics, where they would outlive an erased job.
alter table jobs alter column options set statistics 0, alter column metadata set statistics 0,
  alter column filename set statistics 0, alter column transcript set statistics 0, alter column segments set statistics 0,
  alter column words set statistics 0, alter column edits set statistics 0, alter column speaker_names set statistics 0,
  alter column audio_source set statistics 0;
create index jobs_by_account on jobs (shard, account_id, id desc);
-- For retention: audio of ended jobs, and files without a job.
create index jobs_with_audio on jobs (audio_key) where audio_key is not null;
create index jobs_by_end on jobs (shard, completed_at) where completed_at is not null;
create index jobs_by_expiry on jobs (shard, expires_at, id) where expires_at is not null;
-- Jobs that were never started and whose audio is stored, counted in job_queues. They start in the order of their creation.
create index jobs_waiting on jobs (shard, account_id, created_at, id)
  where state = 'queued' and lease = 0 and audio_key is not null;
-- Jobs that were started before and were queued again: they start before all others.
create index jobs_returned on jobs (created_at, id) where state = 'queued' and lease > 0;
-- Running jobs, by the end of their lease.
create index jobs_processing on jobs (next_at) where state = 'processing';

-- One row per account that has sent a job. Accounts with waiting jobs are served in the order of last_started_at.
create table job_queues (
  shard smallint not null,
  account_id text not null,
  -- The account's queued jobs that were never started; changed in the statement that inserts, starts or cancels the job.
  waiting integer not null check (waiting >= 0),
  -- When the account's last job was started; null for never.
  last_started_at timestamptz,
  -- When the account's last fetch of audio was started; null for never.
  last_fetch_at timestamptz,
  primary key (shard, account_id)
);
-- shard and account_id: without them, accounts that never started a job would have to be sorted for each claim.
create index job_queues_in_turn on job_queues (last_started_at nulls first, shard, account_id) where waiting > 0;

-- Figures of the jobs that ended, per hour and per day (UTC), changed in the statement that ends a job. They outlive the
-- jobs; the rows of hours are deleted later.
create table job_usage (
  shard smallint not null,
  account_id text not null,
  -- hour or day.
  bucket text not null,
  starts_at timestamptz not null,
  plan text not null,
  -- '' for jobs that ended before they had a model.
  model text not null,
  key_id text not null,
  jobs bigint not null,
  failed bigint not null,
  canceled bigint not null,
  audio_ms bigint not null,
  -- The length that was charged, and its price.
  billed_ms bigint not null,
  cost_units bigint not null,
  primary key (shard, account_id, bucket, starts_at, plan, model, key_id)
-- Rows of the present are updated by every job: new versions fit in the same page.
) with (fillfactor = 50);
create index job_usage_by_age on job_usage (shard, starts_at) where bucket = 'hour';

-- The top-level values of a job's metadata, as text, by which lists are filtered. Inserted and deleted with the job.
create table job_metadata (
  shard smallint not null,
  account_id text not null,
  key text not null,
  value text not null,
  job_id text not null,
  -- In the order in which a filtered list is read.
  primary key (shard, account_id, key, value, job_id)
);
create index job_metadata_by_job on job_metadata (shard, job_id);
alter table job_metadata alter column key set statistics 0, alter column value set statistics 0;

-- The words of completed jobs, for search: a row for about five minutes of audio. Inserted and deleted with the transcript.
create table transcript_chunks (
  shard smallint not null,
  account_id text not null,
  job_id text not null,
  -- From 0, in the order of the audio.
  number integer not null,
  job_created_at timestamptz not null,
  -- The index of the chunk's first segment in the transcript, and its segments as JSON text.
  first_segment integer not null,
  segments text not null,
  -- Words in the forms that rules/search/ makes: no dictionary of the database is used, and no locale matters. Each row has
  -- the id of its account as a word, so that the index finds the rows of one account.
  words tsvector not null,
  primary key (shard, job_id, number)
);
-- A small list of words to be sorted in: the job that finds it full waits 80 ms, and not 300 ms as with the default of 4 MB.
create index transcript_chunks_by_word on transcript_chunks using gin (words) with (gin_pending_list_limit = 512);
alter table transcript_chunks alter column words set statistics 0, alter column segments set statistics 0;

-- Audio that is being fetched from a URL, for a queued job; deleted when the audio is stored or the job ends. A claim sets
-- holder, increments lease (the fence) and sets next_at to the end of the lease.
create table audio_fetches (
  shard smallint not null,
  job_id text not null,
  account_id text not null,
  -- URL and headers as JSON text, AES-256-GCM with the job's id as associated data.
  request bytea not null,
  -- Tries that failed, and the milliseconds that they took.
  tries smallint not null default 0,
  spent_ms integer not null default 0,
  lease integer not null default 0,
  -- <node>/<process>, as in jobs; null while it waits.
  holder text,
  -- When it is due.
  next_at timestamptz not null,
  created_at timestamptz not null,
  primary key (shard, job_id)
);
create index audio_fetches_by_account on audio_fetches (shard, account_id, next_at);

-- Partial results of running jobs; deleted when the job ends.
create table job_pieces (
  shard smallint not null,
  job_id text not null,
  -- The lease that wrote the piece: a job that is started again begins from its first piece. 0 for the segments of a live
  -- session, which are final whoever wrote them.
  lease integer not null,
  number integer not null,
  -- The piece's segments as JSON text, as the API returns them.
  segments text not null,
  -- The segment of a live session as JSON text, with all that is known of it; else null.
  message text,
  primary key (shard, job_id, lease, number)
);
alter table job_pieces alter column segments set statistics 0, alter column message set statistics 0;

-- Live sessions, each of a job that has not ended; deleted soon after its end.
create table live_sessions (
  shard smallint not null,
  job_id text not null,
  account_id text not null,
  -- Of the audio, and how it is divided: jobs/live/live-store.ts.
  options jsonb not null,
  -- SHA-256 of the token that a client connects with; null where it needs a key.
  token_hash bytea,
  -- The fence: that of the job when its holder took the session over; 0 until a client has connected.
  lease integer not null default 0,
  -- Bytes of audio that are in live_chunks, and how many of them are gaps.
  durable_bytes bigint not null default 0,
  gap_bytes bigint not null default 0,
  -- Where another process continues: a frame of 10 ms, and whether speech was cut there.
  frame bigint not null default 0,
  is_speaking boolean not null default false,
  -- Final segments so far, in job_pieces.
  segments integer not null default 0,
  -- Found so far, for the job at its end.
  warnings jsonb not null default '[]',
  -- How often a client has connected, and whether one is.
  connections integer not null default 0,
  is_connected boolean not null default false,
  primary key (shard, job_id)
-- Each is updated four times a second: new versions fit in the same page.
) with (fillfactor = 50);
create index live_sessions_by_account on live_sessions (shard, account_id);

-- Secrets that accounts give to browsers, each for a few live sessions; deleted after they have expired.
create table client_secrets (
  shard smallint not null,
  account_id text not null,
  -- SHA-256 of the secret: 256 random bits need no slow hash.
  hash bytea not null,
  -- The key that asked for it: it ends with the key.
  key_id text,
  -- Of its sessions.
  settings jsonb not null,
  sessions smallint not null default 0,
  expires_at timestamptz not null,
  primary key (shard, account_id, hash)
);

-- The audio of live sessions as it was received, until it is in the audio storage.
create table live_chunks (
  shard smallint not null,
  job_id text not null,
  start_byte bigint not null,
  -- Of the audio. A gap, which the client lost, has a length and no bytes.
  length bigint not null,
  bytes bytea not null,
  primary key (shard, job_id, start_byte)
);
-- Audio does not become smaller by compression.
alter table live_chunks alter column bytes set storage external, alter column bytes set statistics 0;

-- The engine of each plan, as reported by the transcriber that became ready last. The API rejects requests that the
-- engine cannot serve.
create table plan_engines (
  plan text primary key,
  engine text not null,
  -- The model's language codes; null: any.
  languages text[],
  -- As in engines/engine.ts.
  features text[] not null,
  licence text,
  attribution text,
  reported_at timestamptz not null default clock_timestamp()
);

-- Webhooks, events, deliveries, and the log of attempts.

create table webhooks (
  shard smallint not null,
  -- wh_…: gets the events of its account. whj_… and the rest of a job's id: gets those of the job, and is deleted with it.
  id text not null,
  account_id text not null,
  url text not null,
  events text[] not null,
  description text,
  active boolean not null default true,
  disabled_reason text check (disabled_reason in ('manual', 'consecutive_failures')),
  disabled_at timestamptz,
  -- Failed attempts since the last success, for disabling. Counted in the statement that records the attempts.
  consecutive_failures integer not null default 0,
  failing_since timestamptz,
  -- The URL has answered with success at least once. Deliveries to these webhooks come before others.
  has_succeeded boolean not null default false,
  -- AES-256-GCM with the webhook's id as associated data.
  secret bytea not null,
  previous_secret bytea,
  previous_secret_ends_at timestamptz,
  -- Own headers of the deliveries: names, and names with values as JSON, encrypted as the secrets are.
  header_names text[] not null default '{}',
  headers bytea,
  -- How many attempts may start in a second; null: no limit.
  max_per_second smallint,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (shard, id),
  constraint webhooks_disabled_have_reason
    check (active = (disabled_reason is null) and active = (disabled_at is null))
);
-- shard last: the planner would otherwise use this index to look up a webhook by its id.
create index webhooks_by_account on webhooks (account_id, id desc, shard) where id like 'wh\_%';
-- For the backlog: deliveries of these may wait.
create index webhooks_limited on webhooks (shard, id) where max_per_second is not null;

create table events (
  shard smallint not null,
  id text not null,
  account_id text not null,
  type text not null,
  job_id text,
  -- Of a test: the only webhook that gets the event. Null: all that subscribe.
  webhook_id text,
  -- Serialised once: stored, signed and sent as these bytes.
  body bytea not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
alter table events alter column body set statistics 0;
create index events_by_account on events (shard, account_id, id desc);
-- For erasing a job.
create index events_by_job on events (shard, job_id) where job_id is not null;
create index events_by_age on events (shard, account_id, created_at);

-- One row per event and webhook, and per redelivery, until the delivery has ended: then the row is deleted.
create table deliveries (
  shard smallint not null,
  id text not null,
  account_id text not null,
  webhook_id text not null,
  event_id text not null,
  event_type text not null,
  attempt smallint not null default 1,
  -- The id of the next attempt (X-Service-Delivery-Id). The fence: an attempt is recorded only under this id.
  attempt_id text not null,
  next_at timestamptz not null,
  created_at timestamptz not null
) with (
  -- A queue: rows are deleted as fast as they are inserted, and reads must not walk over the dead ones.
  autovacuum_vacuum_scale_factor = 0.01,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
-- No primary key: its index could not be partial. Logical replication needs to know how to find a row.
alter table deliveries replica identity full;
-- Partial, though every row is in each of them: while the table is nearly empty all indexes cost the same, and a plan
-- that was made then would read the whole shard by the wrong one. A statement names the index that it needs by the
-- condition of the index.
create unique index deliveries_by_event on deliveries (event_id, id, shard) where event_id > '';
create index deliveries_due on deliveries (shard, next_at) where attempt > 0;
create index deliveries_due_by_webhook on deliveries (shard, webhook_id, next_at) where webhook_id > '';
-- For the waiting deliveries in the delivery log. On an expression, to keep reads in the order of next_at off this index:
-- without statistics the planner underestimates the cost of sorting.
create index deliveries_waiting on deliveries (shard, (webhook_id || ''), attempt_id) where attempt_id > '';
-- The same for the webhooks of jobs, of which an account may have many.
create index deliveries_of_jobs on deliveries (shard, account_id, attempt_id) where webhook_id like 'whj\_%';

-- Processes that deliver. Few rows, each updated every second: no shard.
create table deliverers (
  -- <node>/<process>, as in jobs.
  id text primary key,
  -- The process owns its shards until then.
  ends_at timestamptz not null,
  -- The process stops: it takes no more shards.
  is_leaving boolean not null default false
) with (fillfactor = 20);

-- Who sends the deliveries of each shard. Not distributed: one row per shard, written when a shard changes its owner.
create table delivery_shards (
  shard smallint primary key,
  -- A row of deliverers; null: the shard can be taken.
  owner text,
  -- The fence: incremented each time the shard is taken or set free.
  epoch bigint not null default 0
) with (fillfactor = 20);
insert into delivery_shards (shard)
select generate_series(0, 63);

-- One row per attempt made or dropped. Partitioned by day, so that retention drops partitions instead of deleting rows.
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
  -- In the order in which a webhook's log is read.
  primary key (shard, webhook_id, id, created_at)
) partition by range (created_at);
create index attempts_by_event on attempts (shard, event_id);
-- For filters of the log that few entries pass: most attempts are the first one and succeed.
create index attempts_unusual on attempts (shard, webhook_id, id) where status <> 'succeeded' or attempt > 1;
-- For the log over all webhooks of jobs, of which an account may have many.
create index attempts_of_jobs on attempts (shard, account_id, id) where webhook_id like 'whj\_%';
-- For the streams of accounts: in the order in which attempts are recorded.
create index attempts_by_completion on attempts (shard, account_id, completed_at, id);

-- For days without a partition; empty as long as the janitor creates partitions in advance.
create table attempts_default partition of attempts default;

-- Idempotency keys: the current lease, the job that the request created, and the first answer, repeated for 24 hours.

create table idempotency_keys (
  shard smallint not null,
  -- The operator's keys: shard 0, account_id admin.
  account_id text not null,
  key text not null,
  -- Hash of method and path of the request (first 32 hex digits of SHA-256): a URL may be 16 KiB long.
  route text not null,
  state text not null check (state in ('running', 'answered')),
  -- Incremented by every request that takes the key; renewed while the request runs.
  lease integer not null,
  lease_ends_at timestamptz not null,
  expires_at timestamptz not null,
  -- SHA-256 of the body, in hex; of an upload: of its fields and its file, without the multipart boundary.
  fingerprint text,
  -- Written in the transaction that inserts the job: a retry after a crash is answered with this job.
  job_id text,
  status smallint,
  content_type text,
  location text,
  -- AES-256-GCM: a stored answer may contain a secret that is shown only once.
  body bytea,
  primary key (shard, account_id, key),
  constraint idempotency_keys_answered_have_request
    check (state <> 'answered' or (status is not null and fingerprint is not null)),
  constraint idempotency_keys_with_job_have_fingerprint check (job_id is null or fingerprint is not null)
);
create index idempotency_keys_expired on idempotency_keys (shard, expires_at);
-- Erasing a job erases the answers that contain it.
create index idempotency_keys_by_job on idempotency_keys (shard, job_id) where job_id is not null;
-- For what the queued jobs of a plan wait, as transcribers report it: two rows, updated every 5 s.
create table plan_waits (
  plan text primary key,
  -- The transcriber that reported last that it can work for the plan, and when.
  worker text,
  worked_at timestamptz,
  -- What all transcribers lack: engine, model or storage. Null: nothing, or nobody has reported.
  waiting_for text,
  since timestamptz
);
-- The audio storage of this database: one row. The storage itself holds the id too, so that a node with another storage,
-- or with a disk that is not mounted, is told apart.
create table audio_storage (
  is_only boolean primary key default true check (is_only),
  id text not null,
  -- The cluster and the database in which the row was made: in a restored copy it says nothing about the storage there.
  made_in text not null
);
-- How sure it is that the email is the user's: service, account or none (rules/accounts/email.ts). Of users that exist
-- it is not known who has shown what; operators are trusted.
alter table users add column email_proof text not null default 'account';
update users set email_proof = 'service' where is_operator;
-- Several users may claim an email. One at most has shown that it is theirs.
drop index users_by_email;
create index users_by_email on users (email);
create unique index users_by_proven_email on users (email) where email_proof = 'service';
-- What an entry counts as, for the limits of a day: change, owner_change (by an owner of the account) or event (what
-- changed nothing that others depend on, such as a sign-in).
alter table audit_log add column counted_as text not null default 'change';
create index audit_log_by_account_and_time on audit_log (account_id, created_at desc);
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
-- When the account was last told that a delivery to this webhook had used up its attempts.
-- An id wha_… and the rest of an account's id: gets the alerts of the account, in place of its events.
alter table webhooks add column exhausted_alert_at timestamptz;
-- The parts of a job that the deliveries to a webhook have.
alter table webhooks add column include text[] not null default '{text,segments}';
-- The job whose stored audio a job transcribes again, where an operator retried failed jobs: each is retried once.
alter table jobs add column retry_of text;
create index jobs_by_retry on jobs (shard, retry_of) where retry_of is not null;
-- The W3C Trace Context of the request that made a job, for its log lines, its deliveries and its speech servers.
alter table jobs add column traceparent text;
alter table events add column traceparent text;
-- A name of one's own for a job, and its tags. The tags are found as rows of job_metadata: src/rules/search/metadata-pairs.ts.
alter table jobs add column title text;
alter table jobs add column tags jsonb not null default '[]';
-- ANALYZE would copy a client's texts to the statistics, where they would outlive an erased job.
alter table jobs alter column title set statistics 0, alter column tags set statistics 0;
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
-- Which speakers the edited transcript shows as another one, by their labels: rules/speakers/speaker-merges.ts.
alter table jobs add column speaker_merges jsonb;
