-- From the schema of commit 6a991e1 to that of f05a923.
alter table accounts
  add column suspended_at timestamptz,
  add column deleted_at timestamptz;
create index accounts_deleted on accounts (deleted_at) where deleted_at is not null;

alter table api_keys add column created_by_key text;

alter table jobs add column speaker_names jsonb;
alter table jobs alter column speaker_names set statistics 0;

drop index webhooks_by_account;
create index webhooks_by_account on webhooks (account_id, id desc, shard) where id like 'wh\_%';

create index deliveries_of_jobs on deliveries (shard, account_id, attempt_id) where webhook_id like 'whj\_%';

create index attempts_of_jobs on attempts (shard, account_id, id) where webhook_id like 'whj\_%';
