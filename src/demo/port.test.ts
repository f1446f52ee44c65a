import assert from 'node:assert/strict';
import net from 'node:net';
import { test } from 'node:test';
import { demoPort } from './port.ts';
import { freePort } from './service.ts';

test('the demo takes the port that PORT names, and without one a free one', async () => {
  const wanted = await freePort();

  assert.equal(await demoPort(String(wanted)), wanted);
  assert.ok((await demoPort(undefined)) > 0);
});

test('a port that is in use, and text that is no port, are refused by name', async () => {
  const server = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as net.AddressInfo;

  await assert.rejects(demoPort(String(port)), new RegExp(`^Error: Port ${port} is in use\\. Set PORT`));
  server.close();
  for (const text of ['0', '65536', '80.5', 'http']) {
    await assert.rejects(demoPort(text), new RegExp(`^Error: PORT must be a whole number .* not "${text}"`));
  }
});
