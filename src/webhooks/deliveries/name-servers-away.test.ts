import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openDeliveryFixture, secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openReceiver, testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { readConfig } from '../../config/settings.ts';
import { openMetrics } from '../../platform/metrics.ts';
import { startDeliverer } from './worker.ts';

test('while the name servers do not answer, attempts wait and are neither logged nor counted; then they are made', async () => {
  await using fixture = await openDeliveryFixture();
  const certificate = testAuthority.issue({ hosts: ['hooks.example.com'] });
  await using receiver = await openReceiver({ certificate });
  const account = await fixture.account();
  await fixture.webhook(account, `https://hooks.example.com:${receiver.port}/hook`);
  await fixture.emit(account);
  let isAway = true;
  const metrics = openMetrics();
  const postponed = async () => (await metrics.attemptsWithoutNameServers.get()).values[0]!.value;
  const deliverer = await startDeliverer({
    ...runtimeOn(fixture.db, { secretBox }),
    config: {
      ...readConfig({}),
      webhookAllowedTargets: [{ address: '127.0.0.1', prefixBits: 32, port: receiver.port }],
    },
    ca: testAuthority.cert,
    metrics,
    lookup: async () => {
      if (!isAway) return ['127.0.0.1'];
      throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });
    },
    askNameServers: async () => !isAway,
  });

  await until('the attempt to be put off twice', async () => (await postponed()) >= 2);
  // As after an outage of more than the time that polls look back.
  await fixture.db.run({ text: "update deliveries set next_at = next_at - interval '30 seconds'" });
  const before = await postponed();
  await until('the attempt to be put off twice more', async () => (await postponed()) >= before + 2);
  const [webhook] = await fixture.db.rows({ text: 'select active, consecutive_failures from webhooks' });
  const logged = await fixture.attempts();
  isAway = false;
  await receiver.waitFor(1);
  await deliverer.stop();

  assert.equal((await metrics.deliveriesFoundLate.get()).values[0]!.value, 0);
  assert.deepEqual(webhook, { active: true, consecutive_failures: 0 });
  assert.deepEqual(logged, []);
  assert.equal(receiver.requests[0]!.headers['x-service-attempt'], '1');
});

test('a name that is not resolved while the name servers answer is the fault of its owner', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  await fixture.webhook(account, 'https://hooks.example.com/');
  await fixture.emit(account);
  const deliverer = await startDeliverer({
    ...runtimeOn(fixture.db, { secretBox }),
    lookup: async () => {
      throw Object.assign(new Error('failed'), { code: 'ESERVFAIL' });
    },
    askNameServers: async () => true,
  });

  const [failed] = await until('the attempt in the log', async () => {
    const attempts = await fixture.attempts();
    return attempts.length > 0 ? attempts : null;
  });
  await deliverer.stop();

  assert.equal(failed!['error_reason'], 'dns');
});
