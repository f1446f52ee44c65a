import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { until } from '../../../test/fixtures/until.ts';
import { openDeliverers } from '../../../test/fixtures/webhooks/deliverer.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { dropWaitingOfJob } from './drop-store.ts';

/** A port that holds its first connection until `open` joins it to another port. */
async function openHeldPort() {
  const connected = Promise.withResolvers<net.Socket>();
  const server = net.createServer((socket) => connected.resolve(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    connected: connected.promise,
    async open(port: number) {
      const socket = await connected.promise;
      socket.pipe(net.connect(port, '127.0.0.1')).pipe(socket);
    },
    [Symbol.dispose]: () => void server.close(),
  };
}

test('nothing is sent of an event that is erased while the connection is opened', async () => {
  await using environment = await openDeliverers({}, { webhookTimeoutMs: 10_000 });
  const { fixture, account, receiver } = environment;
  using held = await openHeldPort();
  const slow = await fixture.webhook(account, `https://127.0.0.1:${held.port}/`);
  const deliverer = await environment.start([held.port]);
  const eventId = await fixture.emit(account);
  await held.connected;
  await receiver.waitFor(1);
  let isHeard = false;
  const stopListening = await fixture.db.listen('event_erased', (id) => {
    isHeard ||= id === eventId;
  });

  await fixture.db.run({ text: `update events set job_id = 'job_x' where id = $1`, values: [eventId] });
  await fixture.db.transaction((tx) => dropWaitingOfJob(tx, { shard: account.shard, jobId: 'job_x' }));
  await until('the deliverer to know of the erasure', () => isHeard);
  await held.open(receiver.port);
  await deliverer.stop();
  await stopListening();

  const ofSlow = (await fixture.attempts()).filter((attempt) => attempt['webhook_id'] === slow.id);
  assert.deepEqual(
    ofSlow.map(({ status }) => status),
    ['dropped'],
  );
  assert.equal(receiver.requests.length, 1);
});

test('nothing is sent to a webhook that is deleted while its connection is opened', async () => {
  await using environment = await openDeliverers({}, { webhookTimeoutMs: 10_000 });
  const { fixture, account, receiver } = environment;
  using held = await openHeldPort();
  const gone = await fixture.webhook(account, `https://127.0.0.1:${held.port}/`);
  const deliverer = await environment.start([held.port]);
  await fixture.emit(account);
  await fixture.emit(account, { firstDelayMs: 3_600_000 });
  await held.connected;
  await receiver.waitFor(1);
  const dropped = async () => (await environment.states()).filter((state) => state === 'dropped').length;

  await fixture.db.run({ text: 'delete from webhooks where id = $1', values: [gone.id] });
  fixture.db.notify('webhook_changed', gone.id);
  await until('the deliverer to know of the deletion', async () => (await dropped()) === 1);
  await held.open(receiver.port);
  await until('the delivery to be dropped', async () => (await dropped()) === 2);
  await deliverer.stop();

  assert.equal(receiver.requests.length, 1);
});

for (const { title, change } of [
  { title: 'deleted', change: 'delete from webhooks where id = $1' },
  { title: 'given another url', change: "update webhooks set url = 'https://127.0.0.1:1/' where id = $1" },
]) {
  test(`nothing is sent where a webhook is ${title} while its connection is opened and the notification is lost`, async () => {
    await using environment = await openDeliverers({}, { webhookTimeoutMs: 10_000 });
    const { fixture, account, receiver } = environment;
    using held = await openHeldPort();
    const slow = await fixture.webhook(account, `https://127.0.0.1:${held.port}/`);
    let aheadMs = 0;
    const deliverer = await environment.start([held.port], { monotonicMs: () => performance.now() + aheadMs });
    await fixture.emit(account);
    await held.connected;
    await receiver.waitFor(1);

    await fixture.db.run({ text: change, values: [slow.id] });
    aheadMs = BOUNDS.settingsMaxAgeMs;
    await held.open(receiver.port);
    // The delivery is dropped, or goes to the new URL and fails there.
    await environment.settled(2);
    await deliverer.stop();

    assert.equal(receiver.requests.length, 1);
  });
}
