// Open loop: events enter at a fixed rate, half of what a closed loop can sustain, over 100 webhooks of which 10 answer
// after 4 s and 20 always fail. Measures the wait of the healthy ones for their first attempt, from commit to first
// byte.
//   npm run bench deliver-open -- [--rate <events per second>] [--seconds 60]
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { report, round, spread } from '../figures.ts';
import { processorUs, processorUsOfFamily } from '../processor-time.ts';
import { type BenchWebhook, insertDeliveries } from './delivery-environment.ts';
import { emitSteadily, openDeliveryFixture, waitsOf } from './delivery-fixture.ts';
import type { Arrival } from './watching-receiver.ts';

const { values } = parseArgs({
  options: { rate: { type: 'string' }, seconds: { type: 'string', default: '60' } },
});
const ACCOUNTS = 10;
const WEBHOOKS_EACH = 10;
const CLOSED_LOOP_EVENTS = 20_000;
const SECONDS = Number(values.seconds);
// The first seconds open the connections.
const WARM_UP_SECONDS = 5;
const LATE_MS = 30_000;

await using fixture = await openDeliveryFixture();
const healthy = await fixture.openWatcher();
const troubled = await fixture.openWatcher();
const deliverer = await fixture.startDeliverer([healthy.port, troubled.port]);
const rate = Number(values.rate ?? Math.round((await closedLoopRate()) / 2));

const urls = Array.from({ length: ACCOUNTS * WEBHOOKS_EACH }, (_, at) => {
  if (at % 10 === 0) return troubled.urlsOfMany('/slow')[at % 32]!;
  return at % 10 <= 2 ? troubled.urlsOfMany('/failing')[at % 32]! : healthy.urlsOfMany('/ok')[at % 32]!;
});
const webhooks = await fixture.webhooks(ACCOUNTS, WEBHOOKS_EACH, urls);
const isHealthy = (webhook: BenchWebhook) => webhooks.indexOf(webhook) % 10 > 2;
const healthyShare = webhooks.filter(isHealthy).length / webhooks.length;
await emitSteadily(fixture.db, { webhooks, perSecond: rate, seconds: WARM_UP_SECONDS });
await healthy.take();
const before = usage();
const committed = await emitSteadily(fixture.db, { webhooks, perSecond: rate, seconds: SECONDS });
const after = usage();
const { waits, missing } = await waitsOfHealthy(committed);
const { p50, p99, max } = spread(waits);
report(
  `${rate} events/s, 10 % slow, 20 % failing: commit to first byte at the healthy, ms`,
  `p50 ${p50}, p99 ${p99}, max ${max}`,
  'p99 <= 100',
);
const nodeShare = (after.nodeS - before.nodeS) / SECONDS;
const postgresShare = (after.postgresS - before.postgresS) / SECONDS;
console.log(
  `  ${waits.length} events came, ${missing} did not; processor, in cores: deliverer ${round(nodeShare)}, PostgreSQL ${round(postgresShare)}`,
);
await deliverer.stop();

/** Events that are all there at once, to receivers that all answer: deliveries per second. */
async function closedLoopRate(): Promise<number> {
  const all = await fixture.webhooks(ACCOUNTS, WEBHOOKS_EACH, [healthy.url('/ok')]);
  let perSecond = 0;
  // The first round opens the connections and is not counted.
  for (let turn = 0; turn < 2; turn++) {
    let startedAtMs = 0;
    await insertDeliveries(fixture.db, { webhooks: all, count: CLOSED_LOOP_EVENTS, bodyBytes: 1_024 }, async () => {
      startedAtMs = performance.now();
    });
    for (let came = 0; came < CLOSED_LOOP_EVENTS; await delay(20)) came += (await healthy.take()).length;
    perSecond = CLOSED_LOOP_EVENTS / ((performance.now() - startedAtMs) / 1000);
  }
  console.log(`  closed loop: ${Math.round(perSecond)} deliveries per second`);
  await fixture.clear();
  return perSecond;
}

/** Of the events for healthy webhooks: those that have come, and those that have not by the end. */
async function waitsOfHealthy(events: Map<string, number>): Promise<{ waits: number[]; missing: number }> {
  const expected = Math.round(events.size * healthyShare);
  const arrivals: Arrival[] = [];
  const giveUpAtMs = performance.now() + LATE_MS;
  for (;;) {
    for (const arrival of await healthy.take()) arrivals.push(arrival);
    const { waits } = waitsOf(events, arrivals);
    const missing = expected - waits.length;
    if (missing <= 0 || performance.now() > giveUpAtMs) return { waits, missing: Math.max(0, missing) };
    await delay(100);
  }
}

function usage() {
  return { nodeS: processorUs(deliverer.pid) / 1e6, postgresS: processorUsOfFamily(fixture.server.pid) / 1e6 };
}
