import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { recoverAllWebhooks } from './recover-all.ts';

const fixture = await openDeliveryFixture();
after(() => fixture[Symbol.asyncDispose]());
const SINCE = new Date(Date.now() - 3_600_000);

/** A webhook of a new account that missed one event, disabled in this way. */
async function missing(reason: 'consecutive_failures' | 'manual' | null) {
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  await fixture.emit(account);
  await fixture.db.run({ text: 'delete from deliveries where account_id = $1', values: [account.id] });
  await fixture.db.run({
    text: `update webhooks set active = $2::text is null, disabled_reason = $2, consecutive_failures = 10,
      disabled_at = case when $2::text is not null then now() end where id = $1`,
    values: [webhook.id, reason],
  });
  return webhook;
}

test('webhooks that the service disabled are enabled, and missed events of all accounts sent, once', async () => {
  const [active, disabled, manual] = [
    await missing(null),
    await missing('consecutive_failures'),
    await missing('manual'),
  ];
  const wanted = { since: SINCE, disabledSince: SINCE, isDryRun: false, now: new Date() };
  const waiting = async () => (await fixture.deliveries()).filter(({ state }) => state === 'waiting').length;

  const counted = await recoverAllWebhooks(fixture.db, { ...wanted, isDryRun: true });
  const before = await waiting();
  const withoutDisabled = await recoverAllWebhooks(fixture.db, { ...wanted, disabledSince: null, isDryRun: true });
  const done = await recoverAllWebhooks(fixture.db, wanted);
  const again = await recoverAllWebhooks(fixture.db, wanted);

  assert.deepEqual([counted, before], [{ webhooks: 2, enabled: 1, events: 2 }, 0]);
  assert.deepEqual(withoutDisabled, { webhooks: 1, enabled: 0, events: 1 });
  assert.deepEqual(done, counted);
  assert.deepEqual([again, await waiting()], [{ webhooks: 0, enabled: 0, events: 0 }, 2]);
  const states = await Promise.all([active, disabled, manual].map(({ id }) => fixture.webhookState(id)));
  assert.deepEqual(
    states.map((state) => [state.active, state.failures]),
    [
      [true, 10],
      [true, 0],
      [false, 10],
    ],
  );
});

test('webhooks that were disabled before the time stay disabled', async () => {
  const { id } = await missing('consecutive_failures');
  const later = new Date(Date.now() + 60_000);

  const done = await recoverAllWebhooks(fixture.db, {
    since: SINCE,
    disabledSince: later,
    isDryRun: false,
    now: later,
  });

  assert.equal(done.enabled, 0);
  assert.equal((await fixture.webhookState(id)).active, false);
});
