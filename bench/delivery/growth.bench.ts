// Time of the deliverer's reads and of pages with many old deliveries, attempts, jobs and events, compared with none,
// on two servers in turn; and the waits of other statements while a day of the log is dropped. One account owns all
// rows: the worst case for a shard.
//   npm run bench growth -- [--finished 10000000] [--delayed 1000000] [--jobs 1000000]
import { rmSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { listJobs } from '../../src/jobs/search/list-store.ts';
import { makeId, systemClock } from '../../src/platform/clock.ts';
import { daysFrom } from '../../src/rules/webhooks/log-day.ts';
import { findWebhooksDue, readDue, readDueOfWebhook } from '../../src/webhooks/deliveries/due-store.ts';
import { listWebhooks } from '../../src/webhooks/endpoints/store.ts';
import { listEvents } from '../../src/webhooks/events/log-store.ts';
import { type LogFilter, listAttempts, listPending } from '../../src/webhooks/log/log-store.ts';
import { makeDay } from '../../src/webhooks/log/partition-store.ts';
import { maintainPartitions } from '../../src/webhooks/log/retention.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { startDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { type BenchWebhook, insertDeliveries, makeWebhooks } from './delivery-environment.ts';
import { fillPast } from './growth-environment.ts';

const { values } = parseArgs({
  options: {
    finished: { type: 'string', default: '400000' },
    delayed: { type: 'string', default: '40000' },
    jobs: { type: 'string', default: '40000' },
  },
});
const SIZE = { finished: Number(values.finished), delayed: Number(values.delayed), jobs: Number(values.jobs) };
const BYTES_PER_FINISHED = 1_100;
const DAYS = 10;
const DAY_MS = 86_400_000;
const KEEP_DAYS = 30;
const ROUNDS = 101;
const QUIET_MS = 5_000;
const SETTLE_MS = 1_000;
const WEBHOOKS = 20;
const DUE = 250;
// The deliverer's notified read.
const READ_MS = 1_250;
const AHEAD_MS = 1_000;
const REFILL = 128;
const PAGE = 20;
const FIRST_PAGE = { limit: PAGE, beforeId: null };
const ANY_JOB = {
  status: null,
  plan: null,
  createdAfter: null,
  createdBefore: null,
  name: null,
  ids: null,
  pairs: [],
};
const ANY_ENTRY: LogFilter = {
  status: null,
  eventType: null,
  eventId: null,
  reason: null,
  statusClass: null,
  attempt: null,
  after: null,
  before: null,
  ...FIRST_PAGE,
};
// Without fsync the filling takes half the time; a crash of the bench loses nothing of value.
const FILLING = { fsync: 'off', max_wal_size: '8GB', maintenance_work_mem: '256MB' };

type Environment = Awaited<ReturnType<typeof openEnvironment>>;
type Measured = Record<(typeof GOALS)[number]['name'], number[]>;

const GOALS = [
  { name: 'read of what became due', goal: '<= 1.1' },
  { name: 'read of one webhook', goal: '<= 1.1' },
  { name: 'search of webhooks', goal: '<= 1.1' },
  { name: 'page of attempts made', goal: '<= 2' },
  { name: 'page of attempts waiting', goal: '<= 2' },
  { name: 'page of webhooks', goal: '<= 2' },
  { name: 'page of jobs', goal: '<= 2' },
  { name: 'page of events', goal: '<= 2' },
] as const;

const folder = temporaryFolder();
requireFreeSpace();
const startedAtMs = performance.now();
const long = await openEnvironment('long', SIZE);
console.log(`  filled in ${round((performance.now() - startedAtMs) / 1000)} s: ${JSON.stringify(SIZE)}`);
const none = await openEnvironment('none', { finished: 0, delayed: 0, jobs: 0 });
const measured = await measureInTurn(long, none);
for (const { name, goal } of GOALS) {
  const [full, empty] = measured.map((times) => spread(times[name]).p50) as [number, number];
  report(`${name}: ms with a long past ÷ with none`, `${full} ÷ ${empty} = ${round(full / empty)}`, goal);
}
await dropOldestDay(long);
for (const environment of [long, none]) await environment.close();
rmSync(folder, { recursive: true, force: true });

function requireFreeSpace(): void {
  const { bavail, bsize } = statfsSync(folder);
  const neededBytes = (SIZE.finished + SIZE.jobs + SIZE.delayed) * BYTES_PER_FINISHED;
  if (bavail * bsize < 1.5 * neededBytes) {
    throw new Error(`${folder} has ${bavail * bsize} bytes left; this size needs about ${1.5 * neededBytes}`);
  }
}

/** A server with so many old rows, vacuumed and analysed. */
async function openEnvironment(name: string, size: typeof SIZE) {
  const dir = path.join(folder, name);
  const filling = await startDatabase({ dir, settings: FILLING, mayCreateDatabases: true });
  const db = openDatabase(filling.url, { maxConnections: 1 });
  await migrate(db);
  const today = daysFrom(Date.now(), 3);
  const days = daysFrom(today[0]!.from.getTime() - DAYS * DAY_MS, DAYS - 1);
  for (const day of [...days, ...today]) await makeDay(db, day);
  const webhooks = await makeWebhooks(db, {
    accounts: 1,
    webhooksEach: WEBHOOKS,
    secretsKey: Buffer.alloc(32, 7),
    urls: ['https://receiver.example/hook'],
  });
  const { shard, accountId } = webhooks[0]!;
  const owner = { shard, accountId, webhookIds: webhooks.map((webhook) => webhook.id) };
  // A plain connection: filling and vacuuming take longer than a statement of the service may.
  const filler = new pg.Client({ connectionString: filling.url });
  await filler.connect();
  const fullPages = PAGE * WEBHOOKS;
  await fillPast(filler, { ...owner, days: [today[0]!], finished: fullPages, delayed: fullPages, jobs: fullPages });
  if (size.finished > 0) await fillPast(filler, { ...owner, days, ...size });
  await filler.query({ text: 'vacuum analyze' });
  // CHECKPOINT needs a right that the service does not have; copying a database by files makes a checkpoint too.
  await filler.query({ text: 'create database checkpointed strategy file_copy' });
  await filler.end();
  await db.close();
  await filling.stop();

  const server = await startDatabase({ dir });
  const deliverer = openDatabase(server.url, { maxConnections: 2, plansOnce: true });
  const http = openDatabase(server.url, { maxConnections: 2 });
  return {
    url: server.url,
    deliverer,
    http,
    webhooks,
    owner,
    days,
    async close() {
      await deliverer.close();
      await http.close();
      await server.stop();
    },
  };
}

async function measureInTurn(...environments: Environment[]): Promise<Measured[]> {
  const all = environments.map(() => Object.fromEntries(GOALS.map(({ name }) => [name, []])) as unknown as Measured);
  // The first round warms caches and is not counted.
  for (let turn = 0; turn <= ROUNDS; turn++) {
    for (const [at, environment] of environments.entries()) {
      const times = await measureOnce(environment);
      for (const { name } of GOALS) if (turn > 0) all[at]![name].push(times[name]);
    }
  }
  return all;
}

async function measureOnce(environment: Environment): Promise<Record<keyof Measured, number>> {
  const { deliverer, http, webhooks, owner } = environment;
  const { shard } = owner;
  const place = { shard, accountId: owner.accountId, webhookId: webhooks[0]!.id };
  await makeSomeDue(deliverer, webhooks);
  const nowMs = Date.now();
  const span = { fromMs: nowMs - READ_MS, untilMs: nowMs + AHEAD_MS };
  return {
    'read of what became due': await msOf(() =>
      readDue(deliverer, { shards: [shard], ...span, without: [], known: [], limit: DUE }),
    ),
    'read of one webhook': await msOf(() =>
      readDueOfWebhook(deliverer, { ...place, ...span, limit: REFILL, known: [], withSettings: true }),
    ),
    'search of webhooks': await msOf(() => findWebhooksDue(deliverer, { shard, untilMs: nowMs })),
    'page of attempts made': await msOf(() => listAttempts(http, place, ANY_ENTRY)),
    'page of attempts waiting': await msOf(() => listPending(http, place, ANY_ENTRY)),
    'page of webhooks': await msOf(() => listWebhooks(http, owner, FIRST_PAGE)),
    'page of jobs': await msOf(() => listJobs(http, owner, ANY_JOB, { ...FIRST_PAGE, fromId: null })),
    'page of events': await msOf(() => listEvents(http, owner, { ...FIRST_PAGE, type: null, jobId: null })),
  };
}

async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

/** Due deliveries; those of the round before have ended. */
async function makeSomeDue(db: Database, webhooks: BenchWebhook[]): Promise<void> {
  await db.run({
    text: `delete from deliveries where shard = $1 and next_at < now() + interval '1 minute'`,
    values: [webhooks[0]!.shard],
  });
  await insertDeliveries(db, { webhooks, count: DUE, bodyBytes: 1_024 });
}

/**
 * Partition maintenance on the day when the oldest partition is dropped, while others read and write the log without
 * pause. Their waits without a drop are reported too: on a busy machine they are most of it.
 */
async function dropOldestDay({ url, http, deliverer, owner, days }: Environment): Promise<void> {
  const janitor = openDatabase(url, { maxConnections: 1 });
  const place = { shard: owner.shard, accountId: owner.accountId, webhookId: owner.webhookIds[0]! };
  const probes = {
    'log read': () => listAttempts(http, place, ANY_ENTRY),
    'log written': () => writeAttempt(deliverer, owner),
    'jobs listed': () => listJobs(http, owner, ANY_JOB, { ...FIRST_PAGE, fromId: null }),
  };
  const quiet = await probeDuring(probes, () => delay(QUIET_MS));
  let dropped: string[] = [];
  const during = await probeDuring(probes, async () => {
    const keepDays = { lite: KEEP_DAYS, pro: KEEP_DAYS };
    const now = new Date(days[0]!.to.getTime() + KEEP_DAYS * DAY_MS);
    ({ dropped } = await maintainPartitions({ db: janitor, clock: systemClock, keepDays, now }));
    // The files go after the commit.
    await delay(SETTLE_MS);
  });
  await janitor.close();
  report(
    `a day of ${Math.floor(SIZE.finished / DAYS)} attempts dropped (${dropped.length}): longest wait of others, ms`,
    String(Math.max(...Object.values(during).map(({ max }) => max))),
    '<= 100',
  );
  for (const name of Object.keys(probes)) {
    console.log(
      `  ${name}: p50 ${during[name]!.p50}, max ${during[name]!.max}; with nothing dropped max ${quiet[name]!.max}`,
    );
  }
}

/** Each probe again and again, on connections of its own, until the work is done: how long each took, in ms. */
async function probeDuring(
  probes: Record<string, () => Promise<unknown>>,
  work: () => Promise<unknown>,
): Promise<Record<string, ReturnType<typeof spread>>> {
  let isDone = false;
  const running = Object.entries(probes).map(async ([name, probe]) => {
    const times: number[] = [];
    while (!isDone) times.push(await msOf(probe));
    return [name, spread(times)] as const;
  });
  await work().finally(() => {
    isDone = true;
  });
  return Object.fromEntries(await Promise.all(running));
}

/** Through the log's parent, as the deliverer writes. */
async function writeAttempt(db: Database, { shard, accountId, webhookIds }: Environment['owner']): Promise<void> {
  await db.run({
    name: 'bench-write-attempt',
    text: `insert into attempts (shard, id, account_id, webhook_id, event_id, event_type, delivery_id, url, attempt, status,
        created_at, completed_at)
      values ($1, $2, $3, $4, 'evt_x', 'transcription.completed', 'dl_x', 'https://receiver.example/hook', 1, 'succeeded',
        now(), now())`,
    values: [shard, makeId('dlv'), accountId, webhookIds[0]],
  });
}
