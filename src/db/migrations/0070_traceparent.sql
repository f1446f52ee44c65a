-- The W3C Trace Context of the request that made a job, for its log lines, its deliveries and its speech servers.
alter table jobs add column traceparent text;
alter table events add column traceparent text;
