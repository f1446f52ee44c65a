-- What an entry counts as, for the limits of a day: change, owner_change (by an owner of the account) or event (what
-- changed nothing that others depend on, such as a sign-in).
alter table audit_log add column counted_as text not null default 'change';
create index audit_log_by_account_and_time on audit_log (account_id, created_at desc);
