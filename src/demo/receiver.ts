import https from 'node:https';
import type { AddressInfo } from 'node:net';

/** A received request. The signature covers the raw body. */
export type Received = { headers: Record<string, string>; body: Buffer };

export type DemoReceiver = {
  url: string;
  port: number;
  /** The oldest delivery that was not returned yet; waits for one if there is none. */
  next(): Promise<Received>;
  close(): Promise<void>;
};

/** A webhook receiver over TLS on a free loopback port that answers every POST with 204. */
export async function startReceiver(tls: { key: string; cert: string }): Promise<DemoReceiver> {
  const received: Received[] = [];
  const waiting: ((request: Received) => void)[] = [];
  const server = https.createServer(tls, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    response.writeHead(204).end();
    const one = { headers: request.headers as Record<string, string>, body: Buffer.concat(chunks) };
    const waiter = waiting.shift();
    if (waiter) waiter(one);
    else received.push(one);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `https://127.0.0.1:${port}/hooks/verbatim`,
    next: async () => received.shift() ?? (await new Promise<Received>((resolve) => waiting.push(resolve))),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
