-- API keys that expire and that may do less than everything; the audit log; Idempotency-Keys without URLs.

alter table api_keys
  -- Names of rules/scopes.ts; empty: all of them.
  add column if not exists scopes text[] not null default '{}',
  add column if not exists expires_at timestamptz,
  -- Written at most twice a minute.
  add column if not exists last_used_at timestamptz;

-- What operators and keys changed. Not partitioned by account: it is written seldom, and read by operators alone.
create table audit_log (
  id text primary key,
  -- The account that was changed; the account's own keys write no more than so many entries a day.
  account_id text not null,
  -- Null: the operator.
  key_id text,
  action text not null,
  target_id text not null,
  -- Names of changed fields, plans, amounts, scopes: never a secret, a URL or a body.
  details jsonb not null,
  -- The peer of the connection; a proxy's, where one stands before the service.
  address text not null,
  request_id text not null,
  created_at timestamptz not null
);
create index audit_log_by_account on audit_log (account_id, id desc);
create index audit_log_by_age on audit_log (created_at);

-- Of a route only its hash is kept: a URL may be 16 KiB long. What was kept before goes on counting.
update idempotency_keys
set route = left(encode(sha256(convert_to(route, 'UTF8')), 'hex'), 32);
