import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { until } from '../../../test/fixtures/until.ts';
import { openLog } from '../../platform/log.ts';
import { Slices } from '../../platform/slices.ts';
import { defineRoute } from '../route.ts';
import { buildServer, closeServer } from '../server/server.ts';
import { MessageBudgets } from './message-budgets.ts';
import type { OpenSocket } from './open-socket.ts';

const KEY = 'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n';
const MIB = 2 ** 20;
// More than the buffers of both systems hold.
const FLOOD_BYTES = 64 * MIB;
const HANDSHAKE = `GET /echo HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n${KEY}\r\n`;

/** A server whose WebSocket at `/echo` sends each text back. */
async function openEcho(max = 100, maxMessageBytes = 65_536) {
  const closeCodes: number[] = [];
  const sockets: OpenSocket[] = [];
  const budgets = new MessageBudgets(new Slices());
  const echo = defineRoute({
    method: 'GET',
    path: '/echo',
    auth: 'none',
    summary: 'for the test',
    tag: 'Test',
    schema: { answers: { 101: null } },
    handle: async () => ({
      status: 101,
      upgrade: {
        protocol: null,
        maxMessageBytes,
        budget: budgets.of('acct_1'),
        open(socket) {
          sockets.push(socket);
          return {
            binary: () => undefined,
            text: (text) => socket.sendText(text),
            closed: (code) => void closeCodes.push(code),
          };
        },
        abandon: () => undefined,
      },
    }),
  });
  const app = buildServer({
    routes: [echo],
    auth: { findCaller: async () => null, adminToken: 'token-of-the-test' },
    limits: { admit: async () => null },
    connections: { max, maxPerAddress: max },
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined, connectionClosed: () => undefined },
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const connections = new Map<net.Socket, net.Socket>();
  const connect = async () => {
    const accepted = once(app.server, 'connection');
    const socket = net.connect({ port, host: '127.0.0.1' });
    socket.on('error', () => undefined);
    const [[accepting]] = await Promise.all([accepted, once(socket, 'connect')]);
    connections.set(socket, accepting as net.Socket);
    return socket;
  };
  /** Ends the connection of a client that is not read. Returns how many of its bytes were read. */
  const cut = (socket: net.Socket) => connections.get(socket)!.destroy().bytesRead;
  return { port, connect, cut, closeCodes, sockets, [Symbol.asyncDispose]: () => closeServer(app, 0) };
}

/** A frame as a client sends it, masked with zeros. */
function frame(firstByte: number, payload: Buffer, { isMasked = true } = {}): Buffer {
  const mask = isMasked ? Buffer.alloc(4) : Buffer.alloc(0);
  return Buffer.concat([Buffer.from([firstByte, (isMasked ? 0x80 : 0) | payload.length]), mask, payload]);
}

/** A frame of zeros. */
function longFrame(bytes: number): Buffer {
  const bytesOfLength = Buffer.alloc(8);
  bytesOfLength.writeBigUInt64BE(BigInt(bytes));
  return Buffer.concat([Buffer.from([0x82, 0xff]), bytesOfLength, Buffer.alloc(4 + bytes)]);
}

test('a live connection that is silent is not closed for a new one; one without a request is', async () => {
  await using server = await openEcho(2);
  const live = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(live, 'open');
  const idle = await server.connect();
  const ended = once(idle, 'close');

  const another = await server.connect();
  await ended;
  live.send('still here');

  assert.equal(String((await once(live, 'message'))[0]), 'still here');
  live.terminate();
  another.destroy();
});

test('a frame in the segment of the handshake is not lost', async () => {
  await using server = await openEcho();
  const socket = await server.connect();
  socket.write(Buffer.concat([Buffer.from(HANDSHAKE), frame(0x81, Buffer.from('first'))]));

  let received = Buffer.alloc(0);
  for await (const chunk of socket) {
    received = Buffer.concat([received, chunk as Buffer]);
    if (received.includes('first')) break;
  }

  assert.match(received.toString('latin1'), /^HTTP\/1\.1 101 /);
  socket.destroy();
});

test('a handshake behind a request without an answer ends its connection, and no other', async () => {
  await using server = await openEcho();
  const other = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(other, 'open');
  const socket = await server.connect();
  const closed = once(socket.resume(), 'close');

  socket.write(`GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n${HANDSHAKE}`);
  await closed;
  other.send('undisturbed');

  assert.equal(String((await once(other, 'message'))[0]), 'undisturbed');
  other.terminate();
});

const BROKEN: [what: string, bytes: Buffer, code: number][] = [
  ['a reserved bit', frame(0xc1, Buffer.from('x')), 1002],
  ['an unknown data opcode', frame(0x83, Buffer.from('x')), 1002],
  ['an unknown control opcode', frame(0x8b, Buffer.alloc(0)), 1002],
  ['an unmasked frame', frame(0x81, Buffer.from('x'), { isMasked: false }), 1002],
  ['a fragmented control frame', frame(0x09, Buffer.alloc(0)), 1002],
  ['a control frame of 126 bytes', Buffer.concat([Buffer.from([0x89, 0xfe, 0, 126]), Buffer.alloc(130)]), 1002],
  ['a continuation without a start', frame(0x80, Buffer.from('x')), 1002],
  [
    'a message within a fragmented one',
    Buffer.concat([frame(0x01, Buffer.from('x')), frame(0x81, Buffer.from('y'))]),
    1002,
  ],
  ['text that is not UTF-8', frame(0x81, Buffer.from([0xff])), 1007],
  ['a close frame of one byte', frame(0x88, Buffer.from([3])), 1002],
  ...[0, 999, 1004, 1005, 1006, 1015, 2999, 5000].map((code): [string, Buffer, number] => {
    const payload = Buffer.alloc(2);
    payload.writeUInt16BE(code);
    return [`close code ${code}`, frame(0x88, payload), 1002];
  }),
  ['a close reason that is not UTF-8', frame(0x88, Buffer.from([3, 232, 0xff])), 1007],
  ['a length of 65,537 bytes', Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]), 1009],
  ['a length with the top bit', Buffer.from([0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0]), 1009],
];

test('frames that break RFC 6455 end their connection with its code, and no other', async () => {
  await using server = await openEcho();
  const other = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(other, 'open');
  for (const [what, bytes, code] of BROKEN) {
    const socket = await server.connect();
    socket.write(HANDSHAKE);
    await once(socket, 'data');
    socket.write(bytes);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.deepEqual([what, answer[0], answer.readUInt16BE(2)], [what, 0x88, code]);
    socket.destroy();
  }
  other.send('undisturbed');

  assert.equal(String((await once(other, 'message'))[0]), 'undisturbed');
  other.terminate();
});

test('a message of many tiny fragments ends its connection, and no other', async () => {
  await using server = await openEcho();
  const other = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(other, 'open');
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  const fragment = frame(0x00, Buffer.from('x'));
  const closed = once(socket, 'close');
  socket.write(Buffer.concat([frame(0x01, Buffer.from('x')), ...Array<Buffer>(20_000).fill(fragment)]));

  const [answer] = (await once(socket, 'data')) as [Buffer];
  await closed;
  other.send('undisturbed');

  assert.deepEqual([answer[0], answer.readUInt16BE(2)], [0x88, 1008]);
  assert.equal(String((await once(other, 'message'))[0]), 'undisturbed');
  other.terminate();
});

test('a client that sends pings and does not read their answers is cut off', async () => {
  await using server = await openEcho();
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  socket.pause();
  const pings = Buffer.concat(Array<Buffer>(1_000).fill(frame(0x89, Buffer.alloc(125))));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  let sentBytes = 0;
  while (!socket.closed && sentBytes < FLOOD_BYTES) {
    sentBytes += pings.length;
    if (!socket.write(pings)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed]);
    socket.removeAllListeners('drain');
  }

  assert.ok(socket.closed, `${sentBytes} bytes were taken`);
  await until('the close', () => server.closeCodes.length === 1);
});

test('a client that asks and does not read the answers is not read, until it reads them', async () => {
  await using server = await openEcho();
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  socket.pause();
  const [questionBytes, answerBytes] = [60_000 + 8, 60_000 + 4];
  // The length of a longer frame has 16 bits.
  const head = Buffer.from([0x81, 0x80 | 126, 60_000 >> 8, 60_000 & 0xff, 0, 0, 0, 0]);
  const questions = Buffer.concat(Array<Buffer>(10).fill(Buffer.concat([head, Buffer.alloc(60_000, 'x')])));
  let sentBytes = 0;
  const [open] = server.sockets as [OpenSocket];
  await until('the server to wait', () => {
    if (sentBytes < FLOOD_BYTES && socket.writableLength < questions.length) {
      socket.write(questions);
      sentBytes += questions.length;
    }
    return open.isUnread && open.isPaused;
  });
  const { unsentBytes } = open;

  let received = 0;
  socket.on('data', (bytes) => {
    received += bytes.length;
  });
  socket.resume();
  await until('the answers', () => received === (sentBytes / questionBytes) * answerBytes);
  socket.destroy();

  // 1 MiB, and the answers to what one read brought.
  assert.ok(unsentBytes < 2 * 2 ** 20, `${unsentBytes} bytes wait`);
});

test('messages that wait for the budget of their account fill no memory', async () => {
  await using server = await openEcho(100, MIB);
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  const [open] = server.sockets as [OpenSocket];
  open.charge(100_000);

  socket.write(Buffer.concat(Array<Buffer>(8).fill(longFrame(MIB))));
  await until('the server to wait', () => open.isPaused);
  const readBytes = server.cut(socket);

  assert.ok(readBytes < 2 * MIB, `${readBytes} bytes were read`);
});

for (const [what, begin] of [
  ['that is closed', (open: OpenSocket) => open.close(1008, 'refused')],
  ['whose message is too long', (_: OpenSocket, socket: net.Socket) => socket.write(longFrame(MIB).subarray(0, 14))],
] as const) {
  test(`of what a client ${what} goes on sending, little is read`, async () => {
    await using server = await openEcho();
    const socket = await server.connect();
    socket.write(HANDSHAKE);
    await once(socket, 'data');
    const [open] = server.sockets as [OpenSocket];

    begin(open, socket);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    for (let sentBytes = 0; sentBytes < FLOOD_BYTES; sentBytes += MIB) socket.write(longFrame(MIB));
    await until('the server to read no more', () => open.isPaused);
    const readBytes = server.cut(socket);

    assert.equal(answer[0], 0x88);
    assert.ok(readBytes < MIB / 2, `${readBytes} bytes were read`);
  });
}

test('a client that is closed while it sends can answer the close frame', async () => {
  await using server = await openEcho();
  const client = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(client, 'open');
  const [open] = server.sockets as [OpenSocket];
  const closed = once(client, 'close');

  client.send(Buffer.alloc(60_000));
  open.close(1008, 'refused');
  for (let message = 0; message < 3; message++) client.send(Buffer.alloc(60_000));
  const [code] = await closed;
  await until('the close', () => server.closeCodes.length === 1);

  assert.deepEqual([code, server.closeCodes], [1008, [1008]]);
});

test('a client that sends tiny frames as fast as it can is read at 4,000 a second, and loses none', async () => {
  await using server = await openEcho();
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  let received = 0;
  socket.on('data', (bytes) => {
    received += bytes.length;
  });

  const startMs = performance.now();
  // Two reads of 64 KiB.
  socket.write(Buffer.concat(Array<Buffer>(18_000).fill(frame(0x81, Buffer.from('x')))));
  await until('the answers', () => received >= 18_000 * 3);
  const tookMs = performance.now() - startMs;
  socket.destroy();

  // The first 4,000 are there at once.
  assert.ok(tookMs >= 3_490, `${tookMs} ms`);
});

test('frames that came in one read are taken one in each turn of the event loop', async (t) => {
  await using server = await openEcho();
  const socket = await server.connect();
  socket.write(HANDSHAKE);
  await once(socket, 'data');
  let received = 0;
  socket.on('data', (bytes) => {
    received += bytes.length;
  });
  const events = t.mock.method(WebSocket.prototype, 'emit').mock;

  socket.write(Buffer.concat(Array<Buffer>(1_000).fill(frame(0x81, Buffer.from('x')))));
  let most = 0;
  while (received < 1_000 * 3) {
    const before = events.callCount();
    await turnOfTheLoop();
    most = Math.max(most, events.callCount() - before);
  }
  socket.destroy();

  assert.ok(events.callCount() >= 1_000);
  assert.ok(most <= 2, `${most} in one turn`);
});

test('a handshake that stays half holds no other up, and one of too many headers is refused', async () => {
  await using server = await openEcho();
  const half = await server.connect();
  half.write(HANDSHAKE.slice(0, -10));
  const bomb = await server.connect();
  const headers = Array.from({ length: 10_000 }, (_, at) => `X-${at}: ${'x'.repeat(20)}\r\n`).join('');
  bomb.write(HANDSHAKE.replace('Host: x', `Host: x\r\n${headers.trimEnd()}`));

  const [refusal] = (await once(bomb, 'data')) as [Buffer];
  const other = new WebSocket(`ws://127.0.0.1:${server.port}/echo`);
  await once(other, 'open');
  half.write(HANDSHAKE.slice(-10));
  const [answer] = (await once(half, 'data')) as [Buffer];

  assert.match(String(refusal), /^HTTP\/1\.1 431 /);
  assert.match(String(answer), /^HTTP\/1\.1 101 /);
  for (const socket of [half, bomb]) socket.destroy();
  other.terminate();
});
