import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import { test } from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { openDeliveryFixture, secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openReceiver, testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { readConfig } from '../../config/settings.ts';
import { startDeliverer } from './worker.ts';

const SEED = 1_000;
const MAX_PER_SECOND = 4;
const EVENTS = 20;
const SLOWEST_HANDSHAKE_MS = 900;

/** Passes connections on to the port, each after a time of its own. */
async function openSlowHandshakes(port: number) {
  const random = randomFrom(SEED);
  const server = net.createServer({ pauseOnConnect: true }, (socket) => {
    setTimeout(() => {
      const onwards = net.connect(port, '127.0.0.1');
      socket.pipe(onwards).pipe(socket);
      socket.on('error', () => void onwards.destroy());
      onwards.on('error', () => void socket.destroy());
    }, random.integer(SLOWEST_HANDSHAKE_MS));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as net.AddressInfo).port,
    [Symbol.dispose]: () => void server.close(),
  };
}

test(`a receiver whose handshakes take different times gets no more requests in any second than the limit (seed ${SEED})`, async () => {
  await using fixture = await openDeliveryFixture();
  // Each request needs a handshake.
  const reply = () => ({ status: 204, headers: { connection: 'close' } });
  await using receiver = await openReceiver({ reply });
  using handshakes = await openSlowHandshakes(receiver.port);
  const account = await fixture.account();
  const { id } = await fixture.webhook(account, `https://127.0.0.1:${handshakes.port}/`);
  await fixture.db.run({
    text: 'update webhooks set max_per_second = $2 where id = $1',
    values: [id, MAX_PER_SECOND],
  });
  for (let event = 0; event < EVENTS; event++) await fixture.emit(account);
  const config = {
    ...readConfig({}),
    webhookAllowedTargets: [{ address: '127.0.0.1', prefixBits: 32, port: handshakes.port }],
  };

  const deliverer = await startDeliverer({ ...runtimeOn(fixture.db, { secretBox }), config, ca: testAuthority.cert });
  await receiver.waitFor(EVENTS);
  await deliverer.stop();

  const atMs = receiver.requests.map(({ receivedAt }) => receivedAt);
  const spansMs = atMs.slice(MAX_PER_SECOND).map((time, index) => time - atMs[index]!);
  assert.ok(Math.min(...spansMs) >= 1_000, `arrived after ${atMs.map((time) => time - atMs[0]!).join(', ')} ms`);
  assert.deepEqual(
    receiver.requests.map(({ headers }) => headers['x-service-attempt']),
    Array.from({ length: EVENTS }, () => '1'),
  );
});
