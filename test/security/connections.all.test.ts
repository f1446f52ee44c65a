import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
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

  await hold(30, '127.0.0.1');
  const sameAddress = await getOnNewConnection(`${service.baseUrl}/healthz`);
  for (const address of ['127.0.0.2', '127.0.0.3', '127.0.0.4']) await hold(8, address);
  const full = await getOnNewConnection(`${service.baseUrl}/readyz`);
  const metrics = (await getOnNewConnection(`${service.baseUrl}/metrics`)).body;
  for (const socket of sockets) socket.destroy();

  assert.deepEqual([sameAddress.status, full.status], [200, 200]);
  assert.match(metrics, /verbatim_connections_closed_total\{which="idle",limit="address"\} \d+/);
  assert.match(metrics, /verbatim_connections_closed_total\{which="idle",limit="all"\} \d+/);
});

/**
 * A kept connection, such as `fetch` has, may be the longest idle one: the service closes it while it is used again.
 */
async function getOnNewConnection(url: string): Promise<{ status: number | undefined; body: string }> {
  const [response] = (await once(http.get(url, { agent: false }), 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: await text(response) };
}
