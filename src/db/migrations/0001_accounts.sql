-- Accounts, their keys, their balance, their rate windows.
-- Every hot table leads its primary key with shard (hash of the account, 0 to 63), so that it can be sharded by it.

create table accounts (
  shard smallint not null,
  id text not null,
  name text not null,
  plan text not null check (plan in ('lite', 'pro')),
  -- In units: one credit is 60,000,000 of them (ms of audio x thousandths of a credit per minute). See rules/price.ts.
  -- amount is what can be spent; held is set aside for accepted jobs. Both are the sum of the account's ledger entries.
  unlimited boolean not null,
  amount bigint not null default 0,
  held bigint not null default 0 check (held >= 0),
  created_at timestamptz not null,
  primary key (shard, id)
);

create table api_keys (
  shard smallint not null,
  id text not null,
  account_id text not null,
  name text,
  prefix text not null,
  -- SHA-256 of the key: 256 random bits need no slow hash.
  hash bytea not null,
  created_at timestamptz not null,
  primary key (shard, id)
);
create unique index api_keys_by_hash on api_keys (hash);
create index api_keys_by_account on api_keys (shard, account_id, id);

create table ledger (
  shard smallint not null,
  id text not null,
  account_id text not null,
  kind text not null check (kind in ('credit', 'hold', 'capture', 'release')),
  -- What the entry adds to the account's amount and held, in units.
  amount_change bigint not null,
  held_change bigint not null,
  job_id text,
  note text,
  created_at timestamptz not null,
  primary key (shard, id)
);
create index ledger_by_account on ledger (shard, account_id, id);

create table rate_windows (
  shard smallint not null,
  account_id text not null,
  bucket text not null,
  -- When the requests of the last window were admitted; never longer than the limit.
  admitted timestamptz[] not null,
  primary key (shard, account_id, bucket)
);
