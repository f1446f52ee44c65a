-- How sure it is that the email is the user's: service, account or none (rules/accounts/email.ts). Of users that exist
-- it is not known who has shown what; operators are trusted.
alter table users add column email_proof text not null default 'account';
update users set email_proof = 'service' where is_operator;
-- Several users may claim an email. One at most has shown that it is theirs.
drop index users_by_email;
create index users_by_email on users (email);
create unique index users_by_proven_email on users (email) where email_proof = 'service';
