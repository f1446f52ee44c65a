import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hear } from './conversation.ts';

const HEADER_BYTES = 44;

export type SpeechOfTones = AsyncDisposable & {
  baseUrl: string;
  /** From now on requests wait for their answer. */
  hold(): void;
};

/** A speech server that hears the words of the conversation. */
export async function openSpeechOfTones(): Promise<SpeechOfTones> {
  let isHeld = false;
  const server = createServer(async (request, response) => {
    // It lists no models.
    if (request.method === 'GET') {
      response.writeHead(404).end();
      return;
    }
    const body = Buffer.concat(await Array.fromAsync<Buffer>(request));
    if (isHeld) return;
    const from = body.indexOf('RIFF');
    const bytes = body.readUInt32LE(from + HEADER_BYTES - 4);
    const samples = body.subarray(from + HEADER_BYTES, from + HEADER_BYTES + bytes);
    const piece = new Int16Array(samples.buffer.slice(samples.byteOffset, samples.byteOffset + samples.length));
    response.writeHead(200, { 'content-type': 'application/json' }).end(hear(piece));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    hold() {
      isHeld = true;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
