-- What is being sent: claimed by a deliverer until then, and due again afterwards, with the same attempt number. Rows of
-- their own, few and narrow: a claim that changed the delivery itself wrote all its index entries anew.
create table delivery_leases (
  shard smallint not null,
  webhook_id text not null,
  delivery_id text not null,
  -- Fences the result: nobody else makes an attempt under this id.
  attempt_id text not null,
  ends_at timestamptz not null,
  primary key (shard, webhook_id, delivery_id)
);
insert into delivery_leases (shard, webhook_id, delivery_id, attempt_id, ends_at)
select shard, webhook_id, id, attempt_id, next_at
from deliveries
where state = 'sending';

drop index deliveries_due, deliveries_open_by_webhook, deliveries_sending, deliveries_by_event;
alter table deliveries
  drop constraint deliveries_state_check,
  drop constraint open_deliveries_are_due_some_time,
  drop constraint deliveries_pkey,
  drop column lease;
update deliveries set state = 'waiting' where state = 'sending';
alter table deliveries
  -- waiting: for next_at, or being sent while delivery_leases names it.
  add constraint deliveries_state_check check (state in ('waiting', 'succeeded', 'exhausted', 'dropped')),
  add constraint waiting_deliveries_are_due_some_time check ((state = 'waiting') = (next_at is not null)),
  -- The shard last: an index that begins with it would serve for reading all of a shard, and a planner that knows nothing of
  -- a young table yet prefers that to looking up each delivery.
  add primary key (event_id, id, shard);
create index deliveries_due on deliveries (shard, next_at) where state = 'waiting';
create index deliveries_due_by_webhook on deliveries (shard, webhook_id, next_at) where state = 'waiting';
-- The page of the log that shows what waits. Of an expression, so that no claim is planned with it: those want the order of
-- time, and sorting all that waits for a webhook looks cheap to a planner that does not know how little is due.
create index deliveries_waiting on deliveries (shard, (webhook_id || ''), attempt_id) where state = 'waiting';

-- The shard last, so that no plan takes it for looking one webhook up by its id.
drop index webhooks_by_account;
create index webhooks_by_account on webhooks (account_id, id desc, shard);

-- Its url has answered with success once. Whoever has not yet never stands before those who have.
alter table webhooks add column if not exists has_succeeded boolean not null default false;
