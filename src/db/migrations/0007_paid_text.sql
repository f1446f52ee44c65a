-- Cost of the audio whose text could be read while the job ran: charged when the job is canceled, or fails for the sake of
-- its audio or balance. held_units grows with the decoded length, so that it is never less.
alter table jobs add column transcribed_units bigint not null default 0;

-- Up to where an account's ledger was summed, and to what; see accounts/drift.ts.
create table ledger_checks (
  shard smallint not null,
  account_id text not null,
  -- The last ledger entry that is in the sums.
  through_id text not null,
  amount bigint not null,
  held bigint not null,
  primary key (shard, account_id)
);
