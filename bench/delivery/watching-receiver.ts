// A TLS receiver that records the time of each request, in a child process, controlled over the fork's channel. The
// path chooses the answer: /ok 204 at once, /slow 204 after 4 s, /failing 500, /failing-first 500 to attempt 1,
// /hang nothing ever. Started as `silent` it accepts connections and sends nothing, not even a TLS handshake.
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import net from 'node:net';
import { nowMs } from '../figures.ts';

export type Arrival = {
  eventId: string;
  attempt: number;
  path: string;
  /** When its headers had come, on the clock of `nowMs`. */
  atMs: number;
};
export type ToWatcher = 'take';
export type FromWatcher = { kind: 'listening'; port: number } | { kind: 'arrivals'; arrivals: Arrival[] };

const SLOW_MS = 4_000;
const BACKLOG = 16_384;

const [certFile, keyFile, manner] = process.argv.slice(2) as [string, string, string | undefined];
let arrivals: Arrival[] = [];

const tls = { cert: readFileSync(certFile), key: readFileSync(keyFile) };
const limits = { keepAliveTimeout: 300_000, requestTimeout: 0, headersTimeout: 0 };
const answering = https.createServer({ ...tls, ...limits }, (request, response) => {
  const path = request.url ?? '';
  const attempt = Number(request.headers['x-service-attempt']);
  arrivals.push({ eventId: String(request.headers['x-service-event-id']), attempt, path, atMs: nowMs() });
  request.resume().on('end', () => answer(path, attempt, response));
});
answering.on('tlsClientError', () => undefined);
const silent = net.createServer((socket) => socket.on('error', () => undefined));
const server = manner === 'silent' ? silent : answering;
server.listen({ port: 0, host: '0.0.0.0', backlog: BACKLOG }, () =>
  send({ kind: 'listening', port: (server.address() as AddressInfo).port }),
);
process.on('message', (_: ToWatcher) => {
  send({ kind: 'arrivals', arrivals });
  arrivals = [];
});
process.on('disconnect', () => process.exit(0));

function answer(path: string, attempt: number, response: ServerResponse): void {
  if (path === '/hang') return;
  if (path === '/slow') return void setTimeout(() => response.writeHead(204).end(), SLOW_MS);
  const isFailure = path === '/failing' || (path === '/failing-first' && attempt === 1);
  response.writeHead(isFailure ? 500 : 204).end();
}

function send(message: FromWatcher): void {
  process.send?.(message);
}
