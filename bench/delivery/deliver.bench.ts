// Durable deliveries per second, against what Node's fastest HTTP client posts to the same receiver in the same run.
// Each delivery is read, signed, sent, evaluated, logged and committed by the deliverer's own process, on
// the embedded PostgreSQL with every safety on. Both sides and the receiver share this machine's cores.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { prepareBundle } from '../../bin/prepare/bundle.js';
import { openDatabase } from '../../src/db/database.ts';
import { migrate } from '../../src/db/schema/migrate.ts';
import { ROOT } from '../../src/platform/installation.ts';
import { temporaryFolder } from '../../test/fixtures/service.ts';
import { startDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { processorUs, processorUsOfFamily } from '../processor-time.ts';
import { insertDeliveries, makeWebhooks } from './delivery-environment.ts';
import type { FromReceiver } from './lean-receiver.ts';
import { SECRETS_KEY, writeSampleFiles } from './sample-request.ts';

const ROUNDS = 5;
const COUNT = 20_000;
const BODY_BYTES = 1_024;
const ACCOUNTS = 10;
const WEBHOOKS_EACH = 10;

const folder = temporaryFolder();
const files = writeSampleFiles(folder, BODY_BYTES);
const log = openSync(path.join(folder, 'deliverer.log'), 'a');
const receiver = fork(here('lean-receiver.ts'), [files.cert, files.key]);
const [{ port }] = (await once(receiver, 'message')) as [FromReceiver & { kind: 'listening' }];
const url = `https://127.0.0.1:${port}/hook`;
const server = await startDatabase({ dir: path.join(folder, 'database') });
const db = openDatabase(server.url, { maxConnections: 2 });
await migrate(db);
const webhooks = await makeWebhooks(db, {
  accounts: ACCOUNTS,
  webhooksEach: WEBHOOKS_EACH,
  secretsKey: SECRETS_KEY,
  urls: [url],
});
const rawSender = fork(here('raw-sender.ts'), [url, files.ca, files.headers, files.body]);
const deliverer = fork(path.join(prepareBundle(ROOT), 'role-process.js'), ['deliverer'], {
  stdio: ['ignore', log, 'inherit', 'ipc'],
  serialization: 'advanced',
  execArgv: process.env['BENCH_PROFILE'] ? ['--cpu-prof', '--cpu-prof-dir', process.env['BENCH_PROFILE']] : [],
  env: {
    ...process.env,
    DATA_DIR: folder,
    WEBHOOK_ALLOWED_TARGETS: `127.0.0.1/32:${port}`,
    NODE_EXTRA_CA_CERTS: files.ca,
  },
});
const order = {
  databaseUrl: server.url,
  adminToken: 'x'.repeat(32),
  secretsKeysBase64: SECRETS_KEY.toString('base64'),
};
deliverer.send({ kind: 'start', order });
await once(deliverer, 'message');

type Round = { perSecond: number; nodeUs: number; receiverUs: number; postgresUs: number; fsyncs: number };
const raw: Round[] = [];
const durable: Round[] = [];
await rawRound();
await durableRound();
for (let round = 0; round < ROUNDS; round++) {
  raw.push(await rawRound());
  durable.push(await durableRound());
}
printFigures();

await db.close();
const delivererGone = once(deliverer, 'exit');
deliverer.send({ kind: 'stop' });
await delivererGone;
rawSender.disconnect();
receiver.disconnect();
await server.stop();

async function rawRound(): Promise<Round> {
  const complete = expectAll();
  const before = await usage(rawSender.pid!);
  rawSender.send({ kind: 'send', count: COUNT });
  await Promise.all([complete, once(rawSender, 'message')]);
  return await endOf(before);
}

async function durableRound(): Promise<Round> {
  const complete = expectAll();
  const fill = { webhooks, count: COUNT, bodyBytes: BODY_BYTES };
  // Measured from the commit on: nothing can be read before.
  const measured = Promise.withResolvers<Round>();
  await insertDeliveries(db, fill, async () => {
    const before = await usage(deliverer.pid!);
    complete
      .then(untilSettled)
      .then(() => endOf(before))
      .then(measured.resolve, measured.reject);
  });
  return await measured.promise;
}

/** The receiver has had them all; the round ends when the last attempt is committed too. */
async function untilSettled(): Promise<void> {
  for (;;) {
    const [row] = await db.rows<{ open: boolean }>({
      text: `select exists (select from deliveries) as open`,
    });
    if (row?.open === false) return;
    await delay(5);
  }
}

async function expectAll(): Promise<void> {
  receiver.send({ kind: 'expect', count: COUNT });
  await once(receiver, 'message');
}

type Usage = Awaited<ReturnType<typeof usage>>;

async function endOf(before: Usage): Promise<Round> {
  const seconds = (performance.now() - before.atMs) / 1000;
  const after = await usage(before.senderPid);
  return {
    perSecond: COUNT / seconds,
    nodeUs: (after.nodeUs - before.nodeUs) / COUNT,
    receiverUs: (after.receiverUs - before.receiverUs) / COUNT,
    postgresUs: (after.postgresUs - before.postgresUs) / COUNT,
    fsyncs: (after.fsyncs - before.fsyncs) / COUNT,
  };
}

/** PostgreSQL 18 has moved the counts. */
async function countSyncs(): Promise<number> {
  const [server] = await db.rows<{ version: number }>({
    text: `select current_setting('server_version_num')::int as version`,
  });
  const text =
    server!.version < 180_000
      ? 'select wal_sync::float8 as syncs from pg_stat_wal'
      : `select sum(fsyncs)::float8 as syncs from pg_stat_io where object = 'wal'`;
  const [row] = await db.rows<{ syncs: number }>({ text });
  return row!.syncs;
}

async function usage(senderPid: number) {
  return {
    senderPid,
    nodeUs: processorUs(senderPid),
    receiverUs: processorUs(receiver.pid!),
    postgresUs: processorUsOfFamily(server.pid),
    fsyncs: await countSyncs(),
    atMs: performance.now(),
  };
}

function printFigures(): void {
  const median = (rounds: Round[], name: keyof Round) => spread(rounds.map((one) => one[name])).p50;
  const ratio = spread(durable.map((one, at) => one.perSecond / raw[at]!.perSecond));
  report(
    'durable deliveries ÷ raw POSTs, per second, same receiver',
    `${ratio.p50} (${ratio.min} to ${ratio.max})`,
    '>= 0.75',
  );
  for (const [name, rounds] of [
    ['raw', raw],
    ['durable', durable],
  ] as const) {
    console.log(
      `  ${name.padEnd(8)} ${Math.round(median(rounds, 'perSecond'))}/s; µs of processor each: node ${median(rounds, 'nodeUs')}, ` +
        `PostgreSQL ${median(rounds, 'postgresUs')}, receiver ${median(rounds, 'receiverUs')}; fsyncs each: ${round(median(rounds, 'fsyncs'))}`,
    );
  }
  console.log(
    `  rounds: ${durable.map((one, at) => `${Math.round(one.perSecond)}/${Math.round(raw[at]!.perSecond)}`).join(' ')}`,
  );
}

function here(file: string): string {
  return new URL(file, import.meta.url).pathname;
}
