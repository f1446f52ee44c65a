import net from 'node:net';
import tls from 'node:tls';
import type { Deadline } from './deadlines.ts';
import { codeOf, forbiddenAddress, TransportError } from './transport-error.ts';
import { type EgressProxy, openTunnel } from './tunnel.ts';

export type Connected = { socket: tls.TLSSocket; address: string; tlsMs: number };
type PlainRequest = Omit<ConnectRequest, 'servername'>;

export type ConnectRequest = {
  /** Checked addresses; no other is connected to. */
  addresses: readonly string[];
  port: number;
  /** The name that the certificate must contain; null for an IP literal, which the certificate must contain itself. */
  servername: string | null;
  secureContext: tls.SecureContext;
  /** The proxy to connect through; null for none. */
  proxy: EgressProxy | null;
  deadline: Deadline;
  /** Checks the peer's address that the socket reports, before TLS starts. Not called behind a proxy. */
  isAllowedPeer(address: string): boolean;
  /** Called with the duration of the TCP connection, before TLS starts. */
  onConnected?(connectMs: number): void;
};

/**
 * A TLS connection, version 1.2 or newer, with verified certificate and name, to the first address that accepts.
 * @throws TransportError  connect, tls, reset, timeout or forbidden_address
 */
export async function connectTls(request: ConnectRequest): Promise<Connected> {
  const startedAt = performance.now();
  const { tcp, address } = await connectToAny(request);
  const connectedAt = performance.now();
  request.onConnected?.(connectedAt - startedAt);
  const socket = await handshake(tcp, address, request);
  return { socket, address, tlsMs: performance.now() - connectedAt };
}

/**
 * A connection without TLS to the first address that accepts.
 * @throws TransportError  connect, timeout or forbidden_address
 */
export async function connectPlain(request: PlainRequest): Promise<net.Socket> {
  const { tcp } = await connectToAny(request);
  // Errors are for the user of the socket, as after a handshake.
  return tcp.on('error', () => undefined);
}

async function connectToAny(request: PlainRequest): Promise<{ tcp: net.Socket; address: string }> {
  let last: unknown;
  for (const address of request.addresses) {
    try {
      return { tcp: await connectTo(address, request), address };
    } catch (cause) {
      if (request.deadline.isExpired || (cause as TransportError).reason !== 'connect') throw cause;
      last = cause;
    }
  }
  throw last;
}

function connectTo(address: string, request: PlainRequest): Promise<net.Socket> {
  const { proxy } = request;
  return proxy ? openTunnel({ ...request, proxy, address }) : connectTcp(address, request);
}

function connectTcp(address: string, { port, deadline, isAllowedPeer }: PlainRequest): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const tcp = net.connect({ host: address, port, autoSelectFamily: false, noDelay: true });
    const fail = (error: TransportError) => {
      tcp.destroy();
      reject(error);
    };
    deadline.onExpired = () =>
      fail(new TransportError('timeout', 'No connection to the receiver within the time for an attempt.'));
    tcp.on('error', (cause) => {
      fail(new TransportError('connect', `The connection to the receiver failed (${codeOf(cause)}).`, { cause }));
    });
    tcp.once('connect', () => {
      tcp.removeAllListeners('error');
      // A second check, of the address that is really connected.
      if (isAllowedPeer(tcp.remoteAddress ?? '')) return resolve(tcp);
      fail(forbiddenAddress());
    });
  });
}

function handshake(tcp: net.Socket, address: string, request: ConnectRequest): Promise<tls.TLSSocket> {
  const { servername, secureContext, deadline } = request;
  return new Promise((resolve, reject) => {
    const socket = tls.connect({
      socket: tcp,
      // For an IP literal no server name is sent, and the certificate is checked against the address.
      host: servername ?? address,
      ...(servername === null ? {} : { servername }),
      secureContext,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: true,
    });
    const fail = (error: TransportError) => {
      socket.destroy();
      tcp.destroy();
      reject(error);
    };
    deadline.onExpired = () =>
      fail(new TransportError('timeout', 'The TLS handshake did not end within the time for an attempt.'));
    socket.on('error', (cause) => fail(handshakeError(cause)));
    socket.once('secureConnect', () => {
      socket.removeAllListeners('error');
      // Errors are now for the user of the socket.
      // Until it adds a listener, this one keeps them from ending the process.
      socket.on('error', () => undefined);
      resolve(socket);
    });
  });
}

function handshakeError(cause: unknown): TransportError {
  const code = codeOf(cause);
  if (code === 'ECONNRESET' || code === 'EPIPE') {
    return new TransportError('reset', 'The receiver closed the connection during the TLS handshake.', { cause });
  }
  const why = TLS_FAILURES[code];
  const message = `The TLS handshake with the receiver failed${why ? `: ${why}` : ''} (${code}).`;
  return new TransportError('tls', message, { cause });
}

const TLS_FAILURES: Record<string, string> = {
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is signed by itself',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is signed by an authority that is not trusted',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its certificate is signed by an authority that is not trusted, or the certificates between the two are not sent',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate is signed by an authority that is not trusted',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'it speaks no TLS 1.2 or newer',
};
