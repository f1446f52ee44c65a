import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import pg from 'pg';
import { isDatabaseAway } from './database.ts';

test('a server that takes a connection and says nothing is away', async (t) => {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => sockets.add(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = new pg.Client({ host: '127.0.0.1', port, connectionTimeoutMillis: 1 });

  await assert.rejects(client.connect(), isDatabaseAway);
});
