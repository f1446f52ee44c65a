import net from 'node:net';
import tls from 'node:tls';
import { makeAuthority, makeSelfSigned } from '../src/demo/certificates.ts';
import { testAuthority } from './receiver.ts';

/** What a hostile receiver does to whoever posts to it. */
export type HostileMode = keyof typeof AFTER_REQUEST | keyof typeof RAW | keyof typeof CERTIFICATES | 'tls11';

export type HostileReceiver = AsyncDisposable & {
  url: string;
  port: number;
  /** Bytes of HTTP that it was sent (after the handshake): 0 when TLS failed as it should. */
  requestBytes(): number;
};

const DRIP_MS = 20;

/** Bad manners in HTTP, over sound TLS. Each is called when the first bytes of a request have come. */
const AFTER_REQUEST = {
  hang: () => undefined,
  reset: (socket) => socket.destroy(),
  garbage: (socket) => socket.write('\x00\x01\x02 this is not HTTP\r\n\r\n'),
  dripHeader: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\nx: ', 'y'),
  dripBody: (socket) => drip(socket, 'HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n', 'z'),
  endlessBody: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(64 * 1024, 'z')),
  bigHeader: (socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(200 * 1024)}\r\n\r\n`),
  informational: (socket) => flood(socket, '', Buffer.from('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100))),
  gzipBomb: (socket) =>
    flood(
      socket,
      'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n',
      Buffer.concat([Buffer.from('1f8b0800000000000003', 'hex'), Buffer.alloc(64 * 1024)]),
    ),
  brokenBody: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nonly this'),
  twoLengths: (socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n'),
  upgrade: (socket) => socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
} satisfies Record<string, (socket: tls.TLSSocket) => unknown>;

/** Bad manners below TLS: the socket as it was accepted. */
const RAW = {
  hangBeforeTls: () => undefined,
  resetBeforeTls: (socket) => socket.once('data', () => socket.resetAndDestroy()),
  plainHttp: (socket) => socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')),
} satisfies Record<string, (socket: net.Socket) => unknown>;

const HOSTS = ['localhost', '127.0.0.1'];
const CERTIFICATES = {
  expired: () => testAuthority.issue({ hosts: HOSTS, notBefore: new Date(2020, 0), notAfter: new Date(2021, 0) }),
  notYetValid: () => testAuthority.issue({ hosts: HOSTS, notBefore: new Date(2090, 0), notAfter: new Date(2091, 0) }),
  wrongHost: () => testAuthority.issue({ hosts: ['other.example'] }),
  selfSigned: () => makeSelfSigned({ hosts: HOSTS }),
  unknownAuthority: () => makeAuthority('Nobody knows me').issue({ hosts: HOSTS }),
};

export const HOSTILE_MODES = [
  ...[...Object.keys(AFTER_REQUEST), ...Object.keys(RAW), ...Object.keys(CERTIFICATES)],
  'tls11',
] as HostileMode[];

/** A receiver on a free port of 127.0.0.1 that behaves badly in one way; closed when disposed. */
export async function openHostileReceiver(mode: HostileMode): Promise<HostileReceiver> {
  const sockets = new Set<net.Socket>();
  let requestBytes = 0;
  const server = makeServer(mode, (bytes) => {
    requestBytes += bytes;
  });
  server.on('connection', (socket: net.Socket) => {
    sockets.add(socket.on('error', () => undefined).on('close', () => sockets.delete(socket)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    requestBytes: () => requestBytes,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function makeServer(mode: HostileMode, count: (bytes: number) => void): net.Server {
  if (mode in RAW) return net.createServer(RAW[mode as keyof typeof RAW]);
  const issue = mode in CERTIFICATES ? CERTIFICATES[mode as keyof typeof CERTIFICATES] : null;
  const certificate = issue?.() ?? testAuthority.issue({ hosts: HOSTS });
  const oldTls = { maxVersion: 'TLSv1.1', minVersion: 'TLSv1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const server = tls.createServer({ ...certificate, ...(mode === 'tls11' ? oldTls : {}) }, (socket) => {
    socket.on('error', () => undefined).on('data', (chunk) => count(chunk.length));
    const misbehave = AFTER_REQUEST[mode as keyof typeof AFTER_REQUEST] as
      | ((socket: tls.TLSSocket) => void)
      | undefined;
    socket.once('data', () => misbehave?.(socket));
  });
  return server.on('tlsClientError', () => undefined);
}

function drip(socket: tls.TLSSocket, head: string, drop: string): void {
  socket.write(head);
  const timer = setInterval(() => socket.write(drop), DRIP_MS);
  socket.on('close', () => clearInterval(timer));
}

function flood(socket: tls.TLSSocket, head: string, chunk: Buffer): void {
  socket.write(head);
  const pour = () => {
    while (!socket.destroyed && socket.write(chunk)) {}
  };
  socket.on('drain', pour);
  pour();
}
