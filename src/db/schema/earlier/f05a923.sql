-- From the schema of commit f05a923 to that of 0001_initial.sql.
create table users (
  id text primary key,
  email text not null,
  name text not null,
  password_hash text,
  oidc_issuer text,
  oidc_subject text,
  is_operator boolean not null,
  created_at timestamptz not null
);
create unique index users_by_email on users (email);
create unique index users_by_subject on users (oidc_issuer, oidc_subject);

create table invitations (
  id text primary key,
  account_id text not null,
  role text not null,
  email text,
  hash bytea not null,
  is_by_operator boolean not null,
  makes_operator boolean not null,
  created_by text references users (id) on delete set null,
  created_at timestamptz not null,
  expires_at timestamptz not null
);
create unique index invitations_by_hash on invitations (hash);
create index invitations_by_account on invitations (account_id, id);

alter table api_keys
  add column created_by text references users (id) on delete set null,
  add column user_id text references users (id) on delete cascade,
  add column role text;
alter table api_keys alter column hash drop not null;
alter table api_keys
  add constraint api_keys_are_keys_or_memberships check ((hash is null) = (user_id is not null and role is not null));
create unique index api_keys_by_user on api_keys (user_id, account_id) where user_id is not null;

create table sessions (
  shard smallint not null,
  id text not null,
  hash bytea not null,
  key_id text not null,
  created_at timestamptz not null,
  expires_at timestamptz not null,
  primary key (shard, id),
  foreign key (shard, key_id) references api_keys (shard, id) on delete cascade
);
create unique index sessions_by_hash on sessions (hash);
create index sessions_by_key on sessions (shard, key_id, id);
create index sessions_by_expiry on sessions (expires_at);

alter table audit_log
  add column user_id text,
  add column key_hash bytea;
create index audit_log_by_key_hash on audit_log (key_hash) where key_hash is not null;

alter table jobs add column is_live boolean not null default false;

alter table job_pieces add column message text;
alter table job_pieces alter column message set statistics 0;

create table live_sessions (
  shard smallint not null,
  job_id text not null,
  account_id text not null,
  options jsonb not null,
  token_hash bytea,
  lease integer not null default 0,
  durable_bytes bigint not null default 0,
  gap_bytes bigint not null default 0,
  frame bigint not null default 0,
  is_speaking boolean not null default false,
  segments integer not null default 0,
  warnings jsonb not null default '[]',
  connections integer not null default 0,
  is_connected boolean not null default false,
  primary key (shard, job_id)
) with (fillfactor = 50);
create index live_sessions_by_account on live_sessions (shard, account_id);

create table client_secrets (
  shard smallint not null,
  account_id text not null,
  hash bytea not null,
  key_id text,
  settings jsonb not null,
  sessions smallint not null default 0,
  expires_at timestamptz not null,
  primary key (shard, account_id, hash)
);

create table live_chunks (
  shard smallint not null,
  job_id text not null,
  start_byte bigint not null,
  length bigint not null,
  bytes bytea not null,
  primary key (shard, job_id, start_byte)
);
alter table live_chunks alter column bytes set storage external, alter column bytes set statistics 0;
