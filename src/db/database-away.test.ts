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

const FAILURES: [string, { code: string; syscall?: string }, boolean][] = [
  ['a primary that was demoted', { code: '25006' }, true],
  ['a full disk', { code: '53100' }, true],
  ['an error of the disk', { code: '58030' }, true],
  ['no file descriptor for a connection', { code: 'EMFILE', syscall: 'connect' }, true],
  ['no port for a connection', { code: 'EADDRNOTAVAIL', syscall: 'connect' }, true],
  ['no file descriptor for a file', { code: 'EMFILE', syscall: 'open' }, false],
  ['a wrong statement', { code: '42601' }, false],
  ['a violated constraint', { code: '23505' }, false],
];

for (const [title, error, expected] of FAILURES) {
  test(`${title} ${expected ? 'means that the database is away' : 'is no failure of the database'}`, () => {
    assert.equal(isDatabaseAway(error), expected);
  });
}
