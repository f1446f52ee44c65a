import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { openConnection } from './connection.ts';

const CANCEL_TIMEOUT_MS = 10_000;

// Members of pg that its types leave out.
type Peer = {
  host: string;
  port: number;
  processID: number | null;
  secretKey: unknown;
  ssl: unknown;
  sslNegotiation: string;
  isTlsOptional: boolean;
};
type Canceller = NodeJS.EventEmitter & {
  stream: Duplex;
  connect(port: number, host: string): void;
  connect(socket: string): void;
  cancel(processId: number, secretKey: unknown): void;
  requestSsl(): void;
};

/**
 * Cancels the running statement of a connection, directly or through a pooler. Resolves when the request was sent, or
 * could not be sent: then the statement runs to its end.
 */
export async function cancelStatement(client: pg.ClientBase): Promise<void> {
  const { host, port, processID, secretKey, ssl, sslNegotiation, isTlsOptional } = client as unknown as Peer;
  if (processID === null) return;
  const connection = openConnection({ ssl, sslNegotiation, isTlsOptional }) as unknown as Canceller;
  const cancel = () => connection.cancel(processID, secretKey);
  if (ssl) connection.once('sslconnect', cancel);
  if (!ssl) connection.once('connect', cancel);
  else if (sslNegotiation !== 'direct') connection.once('connect', () => connection.requestSsl());
  if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
  else connection.connect(port, host);
  await once(connection, 'end', { signal: AbortSignal.timeout(CANCEL_TIMEOUT_MS) }).catch(() => undefined);
  connection.on('error', () => undefined);
  connection.stream.destroy();
}
