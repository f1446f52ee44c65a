import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { openService } from '../fixtures/service.ts';

const LIMITS = { MAX_CONNECTIONS: '20', MAX_CONNECTIONS_PER_ADDRESS: '8' };

test('silent connections from one address or from many do not block other clients', async () => {
  await using service = await openService({ ROLES: 'api', ...LIMITS });
  const port = Number(new URL(service.baseUrl).port);
  const sockets: net.Socket[] = [];
  const hold = async (count: number, localAddress: string) => {
    for (let i = 0; i < count; i++) {
      const socket = net.connect({ port, host: '127.0.0.1', localAddress });
      sockets.push(socket.on('error', () => undefined).resume());
      await once(socket, 'connect');
      if (i % 2 === 0) socket.write('GET /healthz HTTP/1.1\r\nHost: ');
    }
  };

  // A new connection for each request: a kept one may be the longest idle, which the service closes.
  const get = (path: string) => fetch(`${service.baseUrl}${path}`, { headers: { connection: 'close' } });

  await hold(30, '127.0.0.1');
  const sameAddress = await get('/healthz');
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) await hold(8, address);
  const full = await get('/readyz');
  const metrics = await (await get('/metrics')).text();
  for (const socket of sockets) socket.destroy();

  assert.deepEqual([sameAddress.status, full.status], [200, 200]);
  assert.match(metrics, /verbatim_connections_closed_total\{which="idle",limit="address"\} \d+/);
  assert.match(metrics, /verbatim_connections_closed_total\{which="idle",limit="all"\} \d+/);
});
