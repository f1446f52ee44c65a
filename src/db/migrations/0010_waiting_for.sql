-- For what the queued jobs of a plan wait, as transcribers report it: two rows, updated every 5 s.
create table plan_waits (
  plan text primary key,
  -- The transcriber that reported last that it can work for the plan, and when.
  worker text,
  worked_at timestamptz,
  -- What all transcribers lack: engine, model or storage. Null: nothing, or nobody has reported.
  waiting_for text,
  since timestamptz
);
