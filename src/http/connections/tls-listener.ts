import { readFile, stat } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Server as TlsServer } from 'node:tls';
import type { Runtime } from '../../db/runtime.ts';
import { clientOf } from '../../rules/network/client-address.ts';

export type TlsFiles = { certFile: string; keyFile: string };

const CHECK_EVERY_MS = 60_000;
const MIN_VERSION = 'TLSv1.2';
const READABLE_BY_ALL = 0o004;
const HANDSHAKE_MS = 10_000;
/** Of one address at a time. A connection counts among those of the server after its handshake only. */
const HANDSHAKES_PER_ADDRESS = 200;

/**
 * A listener with TLS for an HTTP server: after the handshake its connections are connections of that server, with all
 * of its limits and handlers. A certificate that was renewed on disk is used for new connections.
 */
export class TlsListener {
  readonly #files: TlsFiles;
  readonly #runtime: Pick<Runtime, 'clock' | 'log'>;
  readonly #server: TlsServer;
  readonly #closed = new AbortController();
  /** Connections whose handshake has not ended, by the address and port of the client. */
  readonly #handshaking = new Map<string, { socket: Socket; client: string }>();
  readonly #countOfClient = new Map<string, number>();
  #stamp: string;

  private constructor(
    http: Server,
    { files, pair }: { files: TlsFiles; pair: Pair },
    runtime: Pick<Runtime, 'clock' | 'log'>,
  ) {
    const { createServer } = process.getBuiltinModule('node:tls');
    const { cert, key, stamp } = pair;
    this.#files = files;
    this.#runtime = runtime;
    this.#stamp = stamp;
    const protocols = { minVersion: MIN_VERSION, ALPNProtocols: ['http/1.1'], handshakeTimeout: HANDSHAKE_MS } as const;
    this.#server = createServer({ cert, key, ...protocols });
    this.#server.on('connection', (socket) => this.#beginHandshake(socket));
    this.#server.on('secureConnection', (socket) => {
      this.#endHandshake(peerOf(socket));
      http.emit('connection', socket);
    });
    this.#server.on('error', (error) => runtime.log.error({ err: error }, 'a connection could not be accepted'));
    void this.#watch();
  }

  /** @throws Error  when the files cannot be read, are no PEM, or do not belong together */
  static async open(http: Server, files: TlsFiles, runtime: Pick<Runtime, 'clock' | 'log'>): Promise<TlsListener> {
    const pair = await readPair(files);
    const { mode } = await stat(files.keyFile);
    if (mode & READABLE_BY_ALL)
      runtime.log.warn({ file: files.keyFile }, 'TLS_KEY_FILE can be read by every user of this machine: chmod 640 it');
    return new TlsListener(http, { files, pair }, runtime);
  }

  /** Returns the port. @throws Error */
  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(port, host, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    return (this.#server.address() as AddressInfo).port;
  }

  /** Accepts no more connections. Those that there are end with the HTTP server. */
  close(): void {
    this.#closed.abort(null);
    this.#server.close();
    for (const { socket } of this.#handshaking.values()) socket.destroy();
  }

  #beginHandshake(socket: Socket): void {
    // The client reset the connection before it was accepted.
    if (socket.remoteAddress === undefined) return void socket.destroy();
    const [peer, client] = [peerOf(socket), clientOf(socket.remoteAddress)];
    const count = this.#countOfClient.get(client) ?? 0;
    if (count >= HANDSHAKES_PER_ADDRESS) return void socket.destroy();
    this.#handshaking.set(peer, { socket, client });
    this.#countOfClient.set(client, count + 1);
    socket.once('close', () => this.#endHandshake(peer));
  }

  #endHandshake(peer: string): void {
    const client = this.#handshaking.get(peer)?.client;
    if (client === undefined) return;
    this.#handshaking.delete(peer);
    const others = (this.#countOfClient.get(client) ?? 1) - 1;
    if (others > 0) this.#countOfClient.set(client, others);
    else this.#countOfClient.delete(client);
  }

  async #watch(): Promise<void> {
    const { clock, log } = this.#runtime;
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await clock.sleep(CHECK_EVERY_MS, signal);
      if (signal.aborted) return;
      try {
        if ((await stampOf(this.#files)) === this.#stamp) continue;
        const { cert, key, stamp } = await readPair(this.#files);
        this.#server.setSecureContext({ cert, key, minVersion: MIN_VERSION });
        this.#stamp = stamp;
        log.info({ file: this.#files.certFile }, 'the certificate was read again');
      } catch (cause) {
        // The two files may be written one after the other.
        log.warn({ err: cause }, 'the renewed certificate cannot be used yet; the one before is served');
      }
    }
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** What OpenSSL's codes mean here. */
const MISTAKES: Record<string, string> = {
  ERR_OSSL_X509_KEY_VALUES_MISMATCH: 'the key is not the key of the first certificate in the other file',
  ERR_OSSL_PEM_NO_START_LINE: 'one of them has no certificate, or no key, in PEM',
  ERR_OSSL_BAD_DECRYPT: 'the key is encrypted; write it without a passphrase (openssl pkey)',
  ERR_MISSING_PASSPHRASE: 'the key is encrypted; write it without a passphrase (openssl pkey)',
};

type Pair = { cert: Buffer; key: Buffer; stamp: string };

async function readPair(files: TlsFiles): Promise<Pair> {
  // Before the files: what is written meanwhile is read at the next look.
  const stamp = await stampOf(files);
  const [cert, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)]);
  try {
    process.getBuiltinModule('node:tls').createSecureContext({ cert, key });
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException;
    throw new Error(MISTAKES[code] ?? message, { cause });
  }
  return { cert, key, stamp };
}

/** Changes when one of the files does, or the link that leads to it. */
async function stampOf({ certFile, keyFile }: TlsFiles): Promise<string> {
  const found = await Promise.all([stat(certFile), stat(keyFile)]);
  return found.map(({ ino, mtimeMs, size }) => `${ino}-${mtimeMs}-${size}`).join();
}
