-- The job whose stored audio a job transcribes again, where an operator retried failed jobs: each is retried once.
alter table jobs add column retry_of text;
create index jobs_by_retry on jobs (shard, retry_of) where retry_of is not null;
