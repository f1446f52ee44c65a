import type { IncomingHttpHeaders } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { CertificateAuthority, ServerCertificate } from '../src/demo/certificates.ts';
import { makeAuthority } from '../src/demo/certificates.ts';

/** One request as the receiver saw it. */
export type Received = {
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** Names and values in turn, spelled as they came. */
  rawHeaders: string[];
  body: Buffer;
  receivedAt: number;
};

export type Reply = { status: number; headers?: Record<string, string>; body?: string | Buffer };

export type ReceiverOptions = {
  /** What to answer to the n-th request (from 0); default 204. A promise lets a test hold an answer back. */
  reply?: (request: Received, index: number) => Reply | Promise<Reply>;
  certificate?: ServerCertificate;
};

export type Receiver = AsyncDisposable & {
  url: string;
  port: number;
  requests: Received[];
  /** How many requests have been open at once, at most. */
  mostAtOnce(): number;
  connections(): number;
  /** Resolves once `count` requests have come, to the last of them. */
  waitFor(count: number): Promise<Received>;
};

/** The authority that signs for every receiver of a test process: pass its `cert` on as `ca`. */
export const testAuthority: CertificateAuthority = makeAuthority();

/** A webhook receiver over real TLS on a free port of 127.0.0.1, named localhost too; closed when disposed. */
export async function openReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const reply = options.reply ?? ((): Reply => ({ status: 204 }));
  const certificate = options.certificate ?? testAuthority.issue({ hosts: ['localhost', '127.0.0.1'] });
  const requests: Received[] = [];
  const waiters = new Set<() => void>();
  let connections = 0;
  let openRequests = 0;
  let mostAtOnce = 0;

  const server = https.createServer({ ...certificate, keepAliveTimeout: 60_000 }, async (request, response) => {
    mostAtOnce = Math.max(mostAtOnce, ++openRequests);
    response.on('close', () => openRequests--);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const received: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(chunks),
      receivedAt: Date.now(),
    };
    const index = requests.push(received) - 1;
    for (const look of [...waiters]) look();
    const answer = await reply(received, index);
    response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  server.on('connection', () => connections++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    requests,
    mostAtOnce: () => mostAtOnce,
    connections: () => connections,
    waitFor(count) {
      return new Promise((resolve) => {
        const look = () => {
          if (requests.length < count) return;
          waiters.delete(look);
          resolve(requests[count - 1]!);
        };
        waiters.add(look);
        look();
      });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
