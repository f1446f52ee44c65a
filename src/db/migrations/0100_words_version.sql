-- Which forms of words the row has, see src/jobs/search/chunk-store.ts: the janitor indexes earlier ones anew.
alter table transcript_chunks add column words_version smallint not null default 1;
-- Has the rows of earlier releases only, so that there is nothing to look for after the pass.
create index transcript_chunks_to_reindex on transcript_chunks (shard) where words_version < 2;
