-- What the janitor looks for by age. docs/webhooks.md and docs/configuration.md say how long each thing is kept.

create index attempts_by_account on attempts (shard, account_id, created_at);
create index events_by_age on events (shard, account_id, created_at);
create index jobs_by_end on jobs (shard, completed_at) where completed_at is not null;
