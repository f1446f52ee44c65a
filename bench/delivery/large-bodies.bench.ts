// How long the events of others wait, and how large the deliverer grows, while one account has many deliveries with
// bodies of 1 MB, to receivers of which half are slow.

import { report, round, spread } from '../figures.ts';
import { insertDeliveries } from './delivery-environment.ts';
import { emitSteadily, openDeliveryFixture, waitsOf } from './delivery-fixture.ts';

const LARGE = { turns: 40, count: 20, bytes: 1_000_000 };
const WEBHOOKS = 20;
const EVENTS_PER_SECOND = 50;
const SECONDS = 20;

await using fixture = await openDeliveryFixture();
const healthy = await fixture.openWatcher();
const troubled = await fixture.openWatcher();
const deliverer = await fixture.startDeliverer([healthy.port, troubled.port]);
const few = await fixture.webhooks(WEBHOOKS, 1, [healthy.url('/ok')]);
const paths = [...troubled.urlsOfMany('/slow'), ...troubled.urlsOfMany('/ok')];
const one = await fixture.webhooks(
  1,
  WEBHOOKS,
  Array.from({ length: WEBHOOKS }, (_, at) => paths[at * 3]!),
);
await emitSteadily(fixture.db, { webhooks: few, perSecond: EVENTS_PER_SECOND, seconds: 3 });
await healthy.take();
const alone = await waitsBeside(() => Promise.resolve());
const beside = await waitsBeside(async () => {
  for (let turn = 0; turn < LARGE.turns; turn++) {
    await insertDeliveries(fixture.db, { webhooks: one, count: LARGE.count, bodyBytes: LARGE.bytes }, async () => {});
  }
});
report('large bodies of another account: commit to first byte, ms, p99', String(beside.p99), '<= 100');
report('  the most memory of the deliverer, MiB', String(round(deliverer.peakMiB())), 'none');
console.log(`  without them p99 ${alone.p99}, with them p50 ${beside.p50}, max ${beside.max} ms`);
await deliverer.stop();

async function waitsBeside(attack: () => Promise<unknown>) {
  const attacking = attack();
  const events = { webhooks: few, perSecond: EVENTS_PER_SECOND, seconds: SECONDS };
  const committed = await emitSteadily(fixture.db, events);
  await attacking;
  const { waits } = waitsOf(committed, await healthy.take());
  if (waits.length < committed.size - EVENTS_PER_SECOND)
    throw new Error(`only ${waits.length} of ${committed.size} came`);
  return spread(waits);
}
