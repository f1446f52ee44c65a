// From the commit of a job's event to the first byte of attempt 1 at the receiver, on an idle service.
// The bench commits the events itself, on the service's database, so that both times are from one clock.

import { writeFileSync } from 'node:fs';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { openDatabase } from '../../src/db/database.ts';
import { makeCertificates } from '../../src/demo/certificates.ts';
import { shardOf } from '../../src/rules/shard.ts';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { emitEvent } from '../../test/fixtures/webhooks/emit-event.ts';
import { startDatabase } from '../database.ts';
import { report, spread } from '../figures.ts';

const EVENTS = 1000;
const WARM_UP = 50;
// Each event is committed only when the deliverer has finished the one before.
const PAUSE_MS = 10;

const folder = temporaryFolder();
const server = await startDatabase({ dir: path.join(folder, 'database') });
const certificates = makeCertificates({ names: ['localhost'], addresses: ['127.0.0.1'] });
const arrivals = new Map<number, number>();
let arrived = Promise.withResolvers<void>();
const receiver = https.createServer({ key: certificates.key, cert: certificates.cert }, (request, response) => {
  const atMs = performance.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(204).end();
    arrivals.set((JSON.parse(Buffer.concat(chunks).toString()) as { data: { job: { n: number } } }).data.job.n, atMs);
    arrived.resolve();
  });
});
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const { port } = receiver.address() as AddressInfo;
const caFile = path.join(folder, 'ca.pem');
writeFileSync(caFile, certificates.ca);

{
  await using service = await openService({
    LOG_LEVEL: 'warn',
    DATABASE_URL: server.url,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${port}`,
    NODE_EXTRA_CA_CERTS: caFile,
  });
  const account = await service.account();
  await fetch(`${service.baseUrl}/v1/webhooks`, {
    method: 'POST',
    headers: { 'x-api-key': account.key, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `https://127.0.0.1:${port}/`, events: ['transcription.completed'] }),
  });
  const db = openDatabase(server.url, { maxConnections: 2 });
  const waits: number[] = [];
  for (let n = 0; n < EVENTS + WARM_UP; n++) {
    arrived = Promise.withResolvers();
    await db.transaction((tx) =>
      emitEvent(tx, {
        account: { id: account.id, shard: shardOf(account.id) },
        type: 'transcription.completed',
        jobId: null,
        data: { job: { n, text: 'x'.repeat(1000) } },
        metadata: null,
      }),
    );
    const committedAtMs = performance.now();
    await arrived.promise;
    if (n >= WARM_UP) waits.push(arrivals.get(n)! - committedAtMs);
    await delay(PAUSE_MS);
  }
  await db.close();
  const { p50, p99, max } = spread(waits);
  report(
    'commit of an event to first byte at the receiver, idle, ms',
    `p50 ${p50}, p99 ${p99}, max ${max}`,
    'p50 <= 1.5, p99 <= 6',
  );
}
receiver.closeAllConnections();
receiver.close();
await server.stop();
