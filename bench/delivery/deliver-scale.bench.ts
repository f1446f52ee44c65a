// Deliveries per second with 1, 2 and 4 deliverer processes on one PostgreSQL, all on this machine's cores, the
// receiver included. What each costs is what tells about larger machines.
//   npm run bench deliver-scale -- [--processes 1,2,4] [--count 20000] [--rounds 3]
import { fork } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { report, spread } from '../figures.ts';
import { processorUs, processorUsOfFamily } from '../processor-time.ts';
import { insertDeliveries } from './delivery-environment.ts';
import { openDeliveryFixture } from './delivery-fixture.ts';
import type { FromReceiver } from './lean-receiver.ts';

const { values } = parseArgs({
  options: {
    processes: { type: 'string', default: '1,2,4' },
    count: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '3' },
  },
});
const COUNT = Number(values.count);
const ROUNDS = Number(values.rounds);
const PROCESSES = values.processes.split(',').map(Number);
// 16 attempts are under way for each webhook: with more of them, each process would spend the rounds on handshakes.
const ACCOUNTS = 32;
const WEBHOOKS_EACH = 1;
// An attempt that times out on a busy machine is made again within the round, and told of.
const RETRIES = { WEBHOOK_RETRY_DELAYS: '0,0.2,0.5,1' };

type Round = { perSecond: number; nodeUs: number; postgresUs: number; receiverUs: number; failed: number };

await using fixture = await openDeliveryFixture();
const receiver = fork(new URL('lean-receiver.ts', import.meta.url).pathname, [fixture.files.cert, fixture.files.key]);
const [{ port }] = (await once(receiver, 'message')) as [FromReceiver & { kind: 'listening' }];
const webhooks = await fixture.webhooks(ACCOUNTS, WEBHOOKS_EACH, [`https://127.0.0.1:${port}/hook`]);
const figures: number[] = [];
for (const processes of PROCESSES) figures.push(await measure(processes));
report(
  `deliveries per second with ${PROCESSES.join(', ')} deliverers on ${os.availableParallelism()} cores`,
  figures.map(Math.round).join(', '),
  'none',
);
receiver.disconnect();

async function measure(processes: number): Promise<number> {
  const deliverers = await Promise.all(
    Array.from({ length: processes }, () => fixture.startDeliverer([port], RETRIES)),
  );
  const pids = deliverers.map(({ pid }) => pid);
  // The first round opens the connections and is not counted.
  await oneRound(pids);
  const rounds: Round[] = [];
  for (let turn = 0; turn < ROUNDS; turn++) rounds.push(await oneRound(pids));
  await Promise.all(deliverers.map((deliverer) => deliverer.stop()));
  const median = (name: keyof Round) => spread(rounds.map((round) => round[name])).p50;
  console.log(
    `  ${processes}: ${Math.round(median('perSecond'))}/s (${rounds.map((one) => Math.round(one.perSecond)).join(' ')}); µs of ` +
      `processor each: deliverers ${median('nodeUs')}, PostgreSQL ${median('postgresUs')}, receiver ${median('receiverUs')}; failed: ${rounds.map((one) => one.failed).join(' ')}`,
  );
  return median('perSecond');
}

async function oneRound(pids: number[]): Promise<Round> {
  const complete = expectAll();
  const failedBefore = await failures();
  let before = usage(pids);
  await insertDeliveries(fixture.db, { webhooks, count: COUNT, bodyBytes: 1_024 }, async () => {
    before = usage(pids);
  });
  await complete;
  while (await hasOpen()) await delay(5);
  const after = usage(pids);
  const each = (name: 'nodeUs' | 'postgresUs' | 'receiverUs') => (after[name] - before[name]) / COUNT;
  return {
    perSecond: (1000 * COUNT) / (after.atMs - before.atMs),
    nodeUs: each('nodeUs'),
    postgresUs: each('postgresUs'),
    receiverUs: each('receiverUs'),
    failed: (await failures()) - failedBefore,
  };
}

async function expectAll(): Promise<void> {
  receiver.send({ kind: 'expect', count: COUNT });
  await once(receiver, 'message');
}

async function failures(): Promise<number> {
  const [row] = await fixture.db.rows<{ number: number }>({
    text: `select count(*) as number from attempts where status = 'failed'`,
  });
  return row!.number;
}

async function hasOpen(): Promise<boolean> {
  const [row] = await fixture.db.rows<{ open: boolean }>({
    text: `select exists (select from deliveries) as open`,
  });
  return row!.open;
}

function usage(pids: number[]) {
  return {
    nodeUs: pids.reduce((sum, pid) => sum + processorUs(pid), 0),
    postgresUs: processorUsOfFamily(fixture.server.pid),
    receiverUs: processorUs(receiver.pid!),
    atMs: performance.now(),
  };
}
