-- Which speakers the edited transcript shows as another one, by their labels: rules/speakers/speaker-merges.ts.
alter table jobs add column speaker_merges jsonb;
