-- The engine that serves each plan, as the transcriber that was ready last reported it: the API refuses what it cannot do.
create table plan_engines (
  plan text primary key,
  engine text not null,
  -- The model's own codes; null where any may be asked for.
  languages text[],
  reported_at timestamptz not null default clock_timestamp()
);
