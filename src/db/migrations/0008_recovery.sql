-- The process that works on a job, or makes an attempt: <node>/<process>. When a process or a whole node is known to have
-- ended, its leases are released by this name at once, instead of running out.
alter table jobs add column holder text;
alter table delivery_leases add column holder text;

-- Queued jobs start in the order in which they were made, whatever happened to them since.
create index jobs_queued on jobs (shard, account_id, created_at, id) where state = 'queued';
-- Jobs that were started before and came back to the queue: they start before all others.
create index jobs_returned on jobs (created_at, id) where state = 'queued' and lease > 0;
-- Jobs under way, by the end of their lease.
create index jobs_processing on jobs (next_at) where state = 'processing';
drop index jobs_due;
