// How failing receivers of one account delay others: the time from the commit of an event to its first attempt at
// healthy receivers, beside dead, hanging and recovering ones, against the same without them on the same deliverer.
//   npm run bench fairness -- [--only dead,same-account,jobs,hanging,outage] [--pending 100000] [--hanging 10000]
//     [--jobs 5000] [--due 20000]
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openBlackHole } from '../../test/fixtures/servers/black-hole.ts';
import { report, round, spread } from '../figures.ts';
import { processorUs, processorUsOfFamily } from '../processor-time.ts';
import { type BenchWebhook, insertDeliveries } from './delivery-environment.ts';
import { emitSteadily, openDeliveryFixture, type RunningDeliverer, type Watcher, waitsOf } from './delivery-fixture.ts';
import { measureJobTurns } from './fairness-jobs.ts';
import type { Arrival } from './watching-receiver.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'dead,same-account,jobs,hanging,outage' },
    pending: { type: 'string', default: '100000' },
    hanging: { type: 'string', default: '10000' },
    jobs: { type: 'string', default: '5000' },
    due: { type: 'string', default: '20000' },
  },
});
const HEALTHY_ACCOUNTS = 100;
const PER_SECOND = 50;
const SECONDS = 15;
const WARM_UP_SECONDS = 3;
const LATE_MS = 30_000;
const BAD_BODY_BYTES = 256;
const GOAL_MORE_MS = 1_000;
const SETTLE_MS = 1_000;

const SCENARIOS: Record<string, () => Promise<void>> = {
  dead: async () => {
    await besideDead('refused', await closedPort());
    await using hole = await openBlackHole();
    await besideDead('no answer', hole.port);
  },
  'same-account': besideDeadOfSameAccount,
  jobs: () => measureJobTurns(fixture.db, fixture.folder, Number(values.jobs)),
  hanging: async () => {
    await besideHanging('silent');
    await besideHanging('answering');
  },
  outage: afterOutage,
};

await using fixture = await openDeliveryFixture();
const watcher = await fixture.openWatcher();
for (const name of values.only.split(',')) {
  await fixture.clear();
  await watcher.take();
  await SCENARIOS[name]!();
}

/** (a) One account has very much due at a dead host. */
async function besideDead(kind: string, port: number): Promise<void> {
  await fixture.clear();
  const healthy = await fixture.webhooks(HEALTHY_ACCOUNTS, 1, [watcher.url('/ok')]);
  const dead = await fixture.webhooks(1, 5, [`https://127.0.0.1:${port}/hook`]);
  const pending = Number(values.pending);
  await compare(`${pending} due at a dead host (${kind})`, healthy, [watcher.port, port], () =>
    insertDeliveries(fixture.db, { webhooks: dead, count: pending, bodyBytes: BAD_BODY_BYTES }),
  );
}

/** (b) The account's own other webhook. */
async function besideDeadOfSameAccount(): Promise<void> {
  await using hole = await openBlackHole();
  const both = await fixture.webhooks(1, 2, [`https://127.0.0.1:${hole.port}/hook`, watcher.url('/ok')]);
  await compare(`10000 due at a dead webhook of the same account`, [both[1]!], [watcher.port, hole.port], () =>
    insertDeliveries(fixture.db, { webhooks: [both[0]!], count: 10_000, bodyBytes: BAD_BODY_BYTES }),
  );
}

/** (d) Receivers that accept the connection and send nothing, or read the request and never answer. */
async function besideHanging(manner: 'silent' | 'answering'): Promise<void> {
  await fixture.clear();
  const hanging = await fixture.openWatcher(manner);
  const count = Number(values.hanging);
  const healthy = await fixture.webhooks(HEALTHY_ACCOUNTS, 1, [watcher.url('/ok')]);
  const bad = await fixture.webhooks(Math.ceil(count / 5), 5, hanging.urlsOfMany('/hang'));
  const trouble = `${count} receivers that hang ${manner === 'silent' ? 'before' : 'after'} TLS`;
  const { peakMiB } = await compare(trouble, healthy, [watcher.port, hanging.port], () =>
    insertDeliveries(fixture.db, { webhooks: bad, count, bodyBytes: BAD_BODY_BYTES }),
  );
  report('  memory of the deliverer at its most, MiB', String(round(peakMiB)), '<= 1200');
}

/** (e) All deliveries became due at once while the receivers were down, and are retried by the schedule. */
async function afterOutage(): Promise<void> {
  const count = Number(values.due);
  const webhooks = await fixture.webhooks(20, 5, [watcher.url('/failing-first')]);
  const deliverer = await fixture.startDeliverer([watcher.port]);
  await insertDeliveries(fixture.db, { webhooks, count, bodyBytes: BAD_BODY_BYTES });
  const arrivals: Arrival[] = [];
  const giveUpAtMs = performance.now() + 120_000;
  const second = () => arrivals.filter(({ attempt }) => attempt === 2);
  while (second().length < count && performance.now() < giveUpAtMs) {
    await delay(SETTLE_MS);
    arrivals.push(...(await watcher.take()));
  }
  await deliverer.stop();
  const [failed, returned] = [1, 2].map((nth) => perSecond(arrivals.filter(({ attempt }) => attempt === nth)));
  const busiest = Math.max(...returned!);
  report(
    `${count} attempts that failed at once: those in the busiest second of their return`,
    `${busiest} of ${second().length} (${round((100 * busiest) / count)} %)`,
    'spread',
  );
  console.log(`  failed, per second: ${failed!.join(' ')}\n  returned, per second: ${returned!.join(' ')}`);
}

function perSecond(arrivals: Arrival[]): number[] {
  const firstMs = Math.min(...arrivals.map(({ atMs }) => atMs));
  const counts: number[] = [];
  for (const { atMs } of arrivals) {
    const at = Math.floor((atMs - firstMs) / 1000);
    counts[at] = (counts[at] ?? 0) + 1;
  }
  return Array.from(counts, (count) => count ?? 0);
}

/** The waits of the healthy webhooks without and with the failing receivers, on one deliverer. */
async function compare(
  trouble: string,
  healthy: BenchWebhook[],
  ports: number[],
  make: () => Promise<unknown>,
): Promise<{ peakMiB: number }> {
  const deliverer = await fixture.startDeliverer(ports);
  await measure(healthy, WARM_UP_SECONDS);
  const without = spread((await measure(healthy, SECONDS)).waits);
  await make();
  const usedBefore = usage(deliverer);
  const { waits, missing } = await measure(healthy, SECONDS);
  const used = usage(deliverer);
  const beside = spread(waits);
  const [row] = await fixture.db.rows<{ made: number }>({
    text: `select count(*) as made from attempts where status = 'failed'`,
  });
  report(
    `${trouble}: p99 of others, ms`,
    `${beside.p99} - ${without.p99} = ${round(beside.p99 - without.p99)}${missing > 0 ? `, ${missing} never came` : ''}`,
    `<= ${GOAL_MORE_MS}`,
  );
  console.log(
    `  without: p50 ${without.p50}, max ${without.max}; beside: p50 ${beside.p50}, max ${beside.max}; ${row!.made} attempts ` +
      `failed meanwhile; s of processor: deliverer ${round(used.nodeS - usedBefore.nodeS)}, PostgreSQL ${round(used.postgresS - usedBefore.postgresS)}`,
  );
  const peakMiB = deliverer.peakMiB();
  await deliverer.stop();
  return { peakMiB };
}

async function measure(webhooks: BenchWebhook[], seconds: number): Promise<{ waits: number[]; missing: number }> {
  const committed = await emitSteadily(fixture.db, { webhooks, perSecond: PER_SECOND, seconds });
  return await untilArrived(watcher, committed);
}

async function untilArrived(from: Watcher, committed: Map<string, number>) {
  const arrivals: Arrival[] = [];
  const giveUpAtMs = performance.now() + LATE_MS;
  for (;;) {
    arrivals.push(...(await from.take()));
    const waited = waitsOf(committed, arrivals);
    if (waited.missing === 0 || performance.now() > giveUpAtMs) return waited;
    await delay(100);
  }
}

function usage(deliverer: RunningDeliverer) {
  return { nodeS: processorUs(deliverer.pid) / 1e6, postgresS: processorUsOfFamily(fixture.server.pid) / 1e6 };
}

/** A port of 127.0.0.1 that is not open. */
async function closedPort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
