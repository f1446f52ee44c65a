// A TLS receiver with the lowest cost in Node: it reads requests only to find their ends, answers 204, and counts. Runs
// as a child process, so that its processor time is measured separately, and is controlled over the fork's channel.
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import tls from 'node:tls';

export type ToReceiver = { kind: 'expect'; count: number };
export type FromReceiver =
  | { kind: 'listening'; port: number }
  /** When the last of the requests expected had come. */
  | { kind: 'complete' };

const ANSWER = Buffer.from('HTTP/1.1 204 No Content\r\nServer: lean\r\nDate: Sat, 21 Nov 2026 05:00:00 GMT\r\n\r\n');
const HEAD_END = Buffer.from('\r\n\r\n');

const [certFile, keyFile] = process.argv.slice(2) as [string, string];
let missing = 0;

const server = tls.createServer({ cert: readFileSync(certFile), key: readFileSync(keyFile) }, (socket) => {
  socket.setNoDelay(true);
  socket.on('error', () => undefined);
  readRequests(socket);
});
server.listen(0, '127.0.0.1', 4096, () => send({ kind: 'listening', port: (server.address() as AddressInfo).port }));
process.on('message', (message: ToReceiver) => {
  missing = message.count;
});
process.on('disconnect', () => process.exit(0));

function readRequests(socket: TLSSocket): void {
  let rest: Buffer | null = null;
  socket.on('data', (chunk: Buffer) => {
    let data = rest ? Buffer.concat([rest, chunk]) : chunk;
    for (;;) {
      const length = requestLength(data);
      if (length === null || data.length < length) break;
      data = data.subarray(length);
      socket.write(ANSWER);
      missing -= 1;
      if (missing === 0) send({ kind: 'complete' });
    }
    rest = data.length > 0 ? data : null;
  });
}

/** Bytes of the first request, head and body; null until its head is whole. */
function requestLength(data: Buffer): number | null {
  const end = data.indexOf(HEAD_END);
  if (end < 0) return null;
  const head = data.toString('latin1', 0, end);
  const length = /\r\ncontent-length: ?(\d+)/i.exec(head);
  return end + HEAD_END.length + Number(length?.[1] ?? 0);
}

function send(message: FromReceiver): void {
  process.send?.(message);
}
