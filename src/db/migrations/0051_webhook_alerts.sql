-- When the account was last told that a delivery to this webhook had used up its attempts.
-- An id wha_… and the rest of an account's id: gets the alerts of the account, in place of its events.
alter table webhooks add column exhausted_alert_at timestamptz;
