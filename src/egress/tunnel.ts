import net from 'node:net';
import tls from 'node:tls';
import type { Deadline } from './deadlines.ts';
import { codeOf, TransportError } from './transport-error.ts';

/** The egress proxy of all deliveries. */
export type EgressProxy = {
  /** Without brackets. */
  host: string;
  port: number;
  isTls: boolean;
  /** Value of Proxy-Authorization; null when the URL carries no credentials. */
  authorization: string | null;
};

export type TunnelRequest = {
  proxy: EgressProxy;
  /** A checked address: the proxy never looks up a name. */
  address: string;
  port: number;
  /** For a proxy over TLS. */
  secureContext: tls.SecureContext;
  deadline: Deadline;
};

const MAX_ANSWER_BYTES = 16 * 1024;
const END_OF_HEADERS = '\r\n\r\n';
// Read over, as RFC 9110 section 15.2 asks for; after 101 the connection would not be HTTP.
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d/;

/** @param url  http:// or https://, with optional credentials; already checked with the settings */
export function readProxy(url: string): EgressProxy {
  const { hostname, port, protocol, username, password } = new URL(url);
  const isTls = protocol === 'https:';
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (isTls ? 443 : 80) : Number(port),
    isTls,
    authorization: username === '' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
  };
}

/**
 * A connection to an address through the proxy (CONNECT, RFC 9110 section 9.3.6), with nothing sent on it yet.
 * @throws TransportError  connect, timeout or forbidden_address
 */
export function openTunnel(request: TunnelRequest): Promise<net.Socket> {
  const { proxy, deadline, secureContext } = request;
  return new Promise((resolve, reject) => {
    const { host, port } = proxy;
    const socket: net.Socket = proxy.isTls
      ? tls.connect({ host, port, secureContext, ...(net.isIP(host) === 0 && { servername: host }) })
      : net.connect({ host, port, noDelay: true });
    const fail = (error: TransportError) => {
      socket.destroy();
      reject(error);
    };
    deadline.onExpired = () =>
      fail(new TransportError('timeout', 'The egress proxy did not answer within the time for an attempt.'));
    socket.on('error', (cause) =>
      fail(new TransportError('connect', `The egress proxy failed (${codeOf(cause)}).`, { cause })),
    );
    socket.on('end', () =>
      fail(new TransportError('connect', 'The egress proxy closed the connection before it answered.')),
    );
    socket.once(proxy.isTls ? 'secureConnect' : 'connect', () => socket.write(connectRequest(request)));
    readAnswer(socket, (answer) => {
      const failure = failureOf(answer);
      if (failure) return fail(failure);
      socket.removeAllListeners('error').removeAllListeners('end');
      resolve(socket);
    });
  });
}

function connectRequest({ proxy, address, port }: TunnelRequest): string {
  const authority = net.isIPv6(address) ? `[${address}]:${port}` : `${address}:${port}`;
  const authorization = proxy.authorization === null ? '' : `Proxy-Authorization: ${proxy.authorization}\r\n`;
  return `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${authorization}\r\n`;
}

/** Reads to the end of the headers, and leaves the socket paused for TLS. */
function readAnswer(socket: net.Socket, onAnswer: (text: string) => void): void {
  let text = '';
  socket.on('readable', read);
  function read(): void {
    const chunk = socket.read() as Buffer | null;
    if (chunk === null) return;
    text += chunk.toString('latin1');
    while (INTERIM.test(text) && text.includes(END_OF_HEADERS)) {
      text = text.slice(text.indexOf(END_OF_HEADERS) + END_OF_HEADERS.length);
    }
    if (!text.includes(END_OF_HEADERS) && text.length <= MAX_ANSWER_BYTES) return;
    socket.off('readable', read);
    onAnswer(text);
  }
}

/** The error that the proxy's response means; null when the tunnel is open. */
function failureOf(answer: string): TransportError | null {
  const status = Number(/^HTTP\/1\.[01] (\d{3})(?!\d)/.exec(answer)?.[1]);
  // In TLS the client sends first: bytes after the headers do not come from the receiver.
  const isWhole = answer.indexOf(END_OF_HEADERS) === answer.length - END_OF_HEADERS.length;
  if (status >= 200 && status <= 299 && isWhole) return null;
  // Smokescreen responds with 407 when its rules do not allow the receiver.
  if (status === 403 || (status === 407 && /^x-smokescreen-error:/im.test(answer))) {
    return new TransportError(
      'forbidden_address',
      "The operator's egress proxy does not allow connections to the receiver.",
    );
  }
  if (status === 504)
    return new TransportError('timeout', 'The egress proxy could not reach the receiver in time (504).');
  const what = Number.isNaN(status) || status <= 299 ? 'did not answer as a proxy' : `answered ${status}`;
  return new TransportError('connect', `No connection to the receiver: the egress proxy ${what}.`);
}
