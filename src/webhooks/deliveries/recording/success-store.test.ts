import assert from 'node:assert/strict';
import test from 'node:test';
import { finishedOf, openDeliveryFixture } from '../../../../test/fixtures/webhooks/delivery.ts';
import { finishSuccesses } from './success-store.ts';

/** A delivery that a healthy webhook has received. */
async function openEnvironment() {
  const fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  const [attempt] = await fixture.due(account);
  const isHealthy = async () => {
    const text = 'select has_succeeded from webhooks where id = $1';
    const [row] = await fixture.db.rows<{ has_succeeded: boolean }>({ text, values: [webhook.id] });
    return row!.has_succeeded;
  };
  const setHealthy = () => fixture.db.run({ text: 'update webhooks set has_succeeded = true' });
  return Object.assign(fixture, { account, finished: finishedOf(attempt!), isHealthy, setHealthy });
}

test('a success ends the delivery of a healthy webhook', async () => {
  await using fixture = await openEnvironment();
  await fixture.setHealthy();

  const recorded = await finishSuccesses(fixture.db, [fixture.finished]);

  assert.deepEqual(recorded, [fixture.finished.deliveryId]);
  assert.deepEqual((await fixture.deliveries())[0]?.state, 'succeeded');
});

test('a success is not recorded when the shard was lost', async () => {
  await using fixture = await openEnvironment();
  await fixture.setHealthy();
  await fixture.db.run({ text: 'update delivery_shards set epoch = epoch + 1' });

  const recorded = await finishSuccesses(fixture.db, [fixture.finished]);

  assert.deepEqual(recorded, []);
  assert.deepEqual([(await fixture.deliveries())[0]?.state, await fixture.attempts()], ['waiting', []]);
});

test('the first success of a webhook is left to the transaction that makes the webhook healthy', async () => {
  await using fixture = await openEnvironment();

  const recorded = await finishSuccesses(fixture.db, [fixture.finished]);
  await fixture.finish([fixture.finished]);

  assert.deepEqual([recorded, await fixture.isHealthy()], [[], true]);
  assert.equal((await fixture.deliveries())[0]?.state, 'succeeded');
});
