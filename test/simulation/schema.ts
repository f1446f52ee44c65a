/**
 * A schema before the service's schema in the search path. It replaces PostgreSQL's clock and notifications, and
 * records every change of a row in the transaction that makes the change.
 */
export const SIMULATION_SCHEMA = `
  create schema if not exists sim;
  create table sim.clock (now timestamptz not null);
  insert into sim.clock values (now());
  create function sim.clock_timestamp() returns timestamptz language sql volatile
    as 'select now from sim.clock';
  create table sim.notifications (number bigserial, channel text, payload text);
  create function sim.pg_notify(text, text) returns void language sql volatile
    as 'insert into sim.notifications (channel, payload) values ($1, $2)';
  create table sim.changes (
    number bigserial, at timestamptz, slot text, transaction text, what text, before jsonb, after jsonb
  );
  create function sim.note() returns trigger language plpgsql as $$
    begin
      insert into sim.changes (at, slot, transaction, what, before, after)
      values (sim.clock_timestamp(), current_setting('application_name'), pg_current_xact_id()::text, tg_argv[0],
        case when tg_op <> 'INSERT' then to_jsonb(old) - 'body' - 'secret' - 'previous_secret' - 'segments' end,
        case when tg_op <> 'DELETE' then to_jsonb(new) - 'body' - 'secret' - 'previous_secret' - 'segments' end);
      return null;
    end $$;
  create function sim.note_piece() returns trigger language plpgsql as $$
    begin
      insert into sim.changes (at, slot, transaction, what, after)
      values (sim.clock_timestamp(), current_setting('application_name'), pg_current_xact_id()::text, 'piece', to_jsonb(new));
      return null;
    end $$;
  create function sim.note_chunk() returns trigger language plpgsql as $$
    begin
      insert into sim.changes (at, slot, transaction, what, after)
      values (sim.clock_timestamp(), current_setting('application_name'), pg_current_xact_id()::text, 'chunk',
        to_jsonb(new) - 'bytes' || jsonb_build_object('size', length(new.bytes), 'hash', md5(new.bytes)));
      return null;
    end $$;
  create trigger note after insert on live_chunks for each row execute function sim.note_chunk();
  create trigger note after insert or update or delete on jobs for each row execute function sim.note('job');
  create trigger note after insert or update or delete on job_queues for each row execute function sim.note('queue');
  create trigger note after insert or update or delete on deliveries for each row execute function sim.note('delivery');
  create trigger note after delete on deliverers for each row execute function sim.note('deliverer');
  create trigger note after update on delivery_shards for each row execute function sim.note('shard');
  create trigger note after insert or update or delete on webhooks for each row execute function sim.note('webhook');
  create trigger note after insert on job_pieces for each row when (new.lease >= 0) execute function sim.note_piece();
  create trigger note after insert on events for each row execute function sim.note('event');
  create trigger note after insert on attempts for each row execute function sim.note('attempt')`;

/** One change of a row by a committed transaction, in the order of the changes. */
export type Change = {
  number: number;
  atMs: number;
  /** The actor that made the change. */
  slot: string;
  transaction: string;
  what: 'job' | 'queue' | 'piece' | 'chunk' | 'delivery' | 'deliverer' | 'shard' | 'webhook' | 'event' | 'attempt';
  // biome-ignore lint/suspicious/noExplicitAny: rows of many tables
  before: any;
  // biome-ignore lint/suspicious/noExplicitAny: rows of many tables
  after: any;
};

export const READ_CHANGES = `
  select number, (extract(epoch from at) * 1000)::float8 as "atMs", slot, transaction, what, before, after
  from sim.changes
  order by number`;
