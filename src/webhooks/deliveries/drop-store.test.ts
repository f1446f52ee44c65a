import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { dropWaiting } from './drop-store.ts';

const HOUR_MS = 3_600_000;

/** A webhook with two deliveries that are due and one that is not. */
async function openEnvironment() {
  const fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  for (const firstDelayMs of [0, 0, HOUR_MS]) await fixture.emit(account, { firstDelayMs });
  const webhookIs = { shard: account.shard, webhookId: webhook.id, url: 'https://a.example/' };
  return {
    fixture,
    account,
    disable: () =>
      fixture.db.run({
        text: `update webhooks set active = false, disabled_reason = 'manual', disabled_at = now() where id = $1`,
        values: [webhook.id],
      }),
    own: () =>
      fixture.db.run({
        text: `update delivery_shards set owner = 'other', epoch = 7 where shard = $1`,
        values: [account.shard],
      }),
    drop: (allowed: Parameters<typeof dropWaiting>[1]['allowed']) => dropWaiting(fixture.db, { ...webhookIs, allowed }),
    states: async () => (await fixture.deliveries()).map(({ state }) => state),
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('waiting deliveries of a disabled webhook are dropped and logged, those of an active one are not', async () => {
  await using environment = await openEnvironment();

  await environment.drop({ by: 'others' });
  const whileActive = await environment.states();
  await environment.disable();
  await environment.drop({ by: 'others' });

  assert.deepEqual(whileActive, ['waiting', 'waiting', 'waiting']);
  assert.deepEqual(await environment.states(), ['dropped', 'dropped', 'dropped']);
  const [entry] = await environment.fixture.attempts();
  assert.deepEqual([entry!['status'], entry!['attempt'], entry!['url']], ['dropped', 1, 'https://a.example/']);
});

test('while a deliverer owns the shard, others drop only what is not due', async () => {
  await using environment = await openEnvironment();
  await environment.disable();
  await environment.own();

  await environment.drop({ by: 'others' });

  assert.deepEqual((await environment.states()).sort(), ['dropped', 'waiting', 'waiting']);
});

test('the owner of the shard drops all but what is in flight, and nothing once it has lost the shard', async () => {
  await using environment = await openEnvironment();
  const [inFlight] = await environment.fixture.due(environment.account);
  await environment.disable();
  await environment.own();

  await environment.drop({ by: 'owner', epoch: 6, inFlight: [] });
  const ofLostShard = await environment.states();
  await environment.drop({ by: 'owner', epoch: 7, inFlight: [inFlight!.delivery.id] });

  assert.deepEqual(ofLostShard, ['waiting', 'waiting', 'waiting']);
  assert.deepEqual((await environment.states()).sort(), ['dropped', 'dropped', 'waiting']);
  assert.deepEqual(
    (await environment.fixture.due(environment.account)).map(({ delivery }) => delivery.id),
    [inFlight!.delivery.id],
  );
});
