-- A name of one's own for a job, and its tags. The tags are found as rows of job_metadata: src/rules/search/metadata-pairs.ts.
alter table jobs add column title text;
alter table jobs add column tags jsonb not null default '[]';
-- ANALYZE would copy a client's texts to the statistics, where they would outlive an erased job.
alter table jobs alter column title set statistics 0, alter column tags set statistics 0;
