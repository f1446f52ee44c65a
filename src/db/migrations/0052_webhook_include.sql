-- The parts of a job that the deliveries to a webhook have.
alter table webhooks add column include text[] not null default '{text,segments}';
