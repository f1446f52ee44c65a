// What a long past costs: claims and pages when many deliveries, attempts and jobs have gathered, against none. One
// account holds all of it, so that its lane is as full as a lane gets.

import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { startEmbedded } from '../src/db/embedded.ts';
import { migrate } from '../src/db/migrate.ts';
import { openDatabase } from '../src/db/sql.ts';
import { claimDueDeliveries } from '../src/deliveries/claim-store.ts';
import type { LogFilter } from '../src/deliveries/log-store.ts';
import { listAttempts } from '../src/deliveries/log-store.ts';
import { listJobs } from '../src/jobs/store.ts';
import { openLog } from '../src/log.ts';
import { listWebhooks } from '../src/webhooks/store.ts';
import { temporaryFolder } from '../test/service.ts';
import { insertDeliveries, makeWebhooks } from './delivery-world.ts';
import { report, round, spread } from './figures.ts';

// Finished and delayed in the proportion of 10 to 1, for as long as this.
const FILL_SECONDS = Number(process.env['BENCH_FILL_SECONDS'] ?? 240);
const FINISHED_AT_ONCE = 20_000;
const DELAYED_AT_ONCE = 2_000;
const ROUNDS = 25;
const WEBHOOKS = 20;
const CLAIM_LIMIT = 250;
const PAGE = 20;

const server = await startEmbedded({ dir: path.join(temporaryFolder(), 'database'), log: openLog('warn') });
const db = openDatabase(server.url, { maxConnections: 2, plansOnce: true });
// A plain connection: filling and vacuuming take longer than a statement of the service may.
const filler = new pg.Client({ connectionString: server.url });
await filler.connect();
await migrate(db);
const webhooks = await makeWebhooks(db, {
  ...{ accounts: 1, webhooksEach: WEBHOOKS, secretsKey: Buffer.alloc(32, 7) },
  urls: ['https://receiver.example/hook'],
});
const { lane, accountId } = webhooks[0]!;
await fillOnce(0);
await settle();
const without = await measureAll();
const gathered = await fill();
await settle();
const full = await measureAll();
console.log(`  ${gathered.finished} finished deliveries with their attempts and jobs, ${gathered.delayed} delayed`);
for (const [name, goal] of [
  ['claim', '<= 1.1'],
  ['attempts page', '<= 2'],
  ['webhooks page', '<= 2'],
  ['jobs page', '<= 2'],
] as const) {
  const ratio = round(full[name] / without[name]);
  report(`${name}: ms with a long past ÷ with none`, `${round(full[name])} ÷ ${round(without[name])} = ${ratio}`, goal);
}
await db.close();
await filler.end();
await server.stop();

type Times = Record<'claim' | 'attempts page' | 'webhooks page' | 'jobs page', number>;

async function measureAll(): Promise<Times> {
  const any: LogFilter = {
    ...{ status: null, eventType: null, eventId: null, after: null, before: null },
    ...{ limit: PAGE, beforeId: null },
  };
  const anyJob = { status: null, plan: null, createdAfter: null, createdBefore: null };
  const page = { limit: PAGE, beforeId: null };
  return {
    claim: await medianMs(() => claimDueDeliveries(db, { lane, limit: CLAIM_LIMIT, leaseMs: 60_000 }), someDue),
    'attempts page': await medianMs(() => listAttempts(db, { lane, webhookId: webhooks[0]!.id }, any)),
    'webhooks page': await medianMs(() => listWebhooks(db, { lane, accountId }, page)),
    'jobs page': await medianMs(() => listJobs(db, { lane, accountId }, anyJob, page)),
  };
}

async function medianMs(work: () => Promise<unknown>, prepare?: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await prepare?.();
    const startedAtMs = performance.now();
    await work();
    times.push(performance.now() - startedAtMs);
  }
  return spread(times).p50;
}

/** A full claim's worth of due deliveries; what the round before claimed is done. */
async function someDue(): Promise<void> {
  await db.run({
    text: `update deliveries set state = 'succeeded', next_at = null where lane = $1 and state = 'sending'`,
    values: [lane],
  });
  await insertDeliveries(db, { webhooks, count: CLAIM_LIMIT, bodyBytes: 1_024 });
}

async function fill(): Promise<{ finished: number; delayed: number }> {
  const untilMs = performance.now() + FILL_SECONDS * 1000;
  let rounds = 0;
  while (performance.now() < untilMs && rounds * FINISHED_AT_ONCE < 10_000_000) await fillOnce(++rounds);
  return { finished: rounds * FINISHED_AT_ONCE, delayed: rounds * DELAYED_AT_ONCE };
}

/** The bodies are left out: neither claims nor pages read any but their own. */
async function fillOnce(nth: number): Promise<void> {
  const values = [lane, accountId, webhooks.map((webhook) => webhook.id), nth, FINISHED_AT_ONCE];
  if (nth === 0) values[4] = PAGE * WEBHOOKS;
  const numbered = `select lpad($4::text, 6, '0') || lpad(n::text, 20, '0') as number,
      ($3::text[])[1 + n % cardinality($3::text[])] as webhook_id
    from generate_series(1, $5::int) as n`;
  await filler.query({
    text: `with numbered as (${numbered}),
      settled as (
        insert into deliveries (lane, id, account_id, webhook_id, event_id, event_type, state, attempt_id, created_at)
        select $1, 'dl_' || number, $2, webhook_id, 'evt_' || number, 'transcription.completed', 'succeeded', 'dlv_' || number, now()
        from numbered
      ),
      jobs_done as (
        insert into jobs (lane, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript,
          created_at, completed_at)
        select $1, 'job_' || number, $2, 'completed', 'pro', false, 'wav', 1, 1, 'text', now(), now()
        from numbered
      )
      insert into attempts (lane, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
        created_at, completed_at)
      select $1, 'dlv_' || number, $2, webhook_id, 'evt_' || number, 'transcription.completed', 'dl_' || number,
        'https://receiver.example/hook', 1, 'succeeded', now(), now()
      from numbered`,
    values,
  });
  if (nth === 0) return;
  await filler.query({
    text: `insert into deliveries
        (lane, id, account_id, webhook_id, event_id, event_type, state, attempt_id, next_at, created_at)
      select $1, 'dl_z' || number, $2, webhook_id, 'evt_z' || number, 'transcription.completed', 'waiting', 'dlv_z' || number,
        now() + interval '1 hour', now()
      from (${numbered}) as numbered`,
    values: values.with(4, DELAYED_AT_ONCE),
  });
}

/** As after some quiet minutes: vacuumed, and with statistics. */
async function settle(): Promise<void> {
  await filler.query({ text: 'vacuum analyze' });
  await filler.query({ text: 'checkpoint' });
  await delay(1_000);
}
