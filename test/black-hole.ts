import { once } from 'node:events';
import net from 'node:net';
import { Worker } from 'node:worker_threads';

// Its event loop stops for ever once it listens: nothing is accepted, and what the kernel accepts for it is soon full.
const LISTEN_AND_STOP = `
  const server = require('node:net').createServer();
  server.listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:worker_threads').parentPort.postMessage(server.address().port);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  });`;
// The kernel completes one connection more than the backlog says.
const FILLERS = 2;

export type BlackHole = AsyncDisposable & { url: string; port: number };

/** A port of 127.0.0.1 that answers no connection request, as an address that packets do not come back from. */
export async function openBlackHole(): Promise<BlackHole> {
  const worker = new Worker(LISTEN_AND_STOP, { eval: true });
  const [port] = (await once(worker, 'message')) as [number];
  const fillers = Array.from({ length: FILLERS }, () => net.connect(port, '127.0.0.1').on('error', () => undefined));
  await Promise.all(fillers.map((filler) => once(filler, 'connect')));
  return {
    url: `https://127.0.0.1:${port}/hook`,
    port,
    async [Symbol.asyncDispose]() {
      for (const filler of fillers) filler.destroy();
      await worker.terminate();
    },
  };
}
