// Memory of the HTTP process, and the time that another account waits, while clients send requests and do not read the
// answers.
import { readFileSync, rmSync } from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { openDatabase } from '../../src/db/database.ts';
import { makeId } from '../../src/platform/clock.ts';
import { languageTag, ownerTag } from '../../src/rules/search/tags.ts';
import { shardOf } from '../../src/rules/shard.ts';
import { openService, type ServiceAccount, temporaryFolder } from '../../test/fixtures/service.ts';
import { startDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { httpProcessOf } from '../http-process.ts';

const ATTACK_MS = 8_000;
const SAMPLE_EVERY_MS = 50;
const MIB = 2 ** 20;

const SEGMENTS = JSON.stringify(
  Array.from({ length: 150_000 }, (_, at) => ({ start: at, end: at + 1, text: 'x'.repeat(100), confidence: null })),
);
const LONG_OPTIONS = JSON.stringify({
  replacements: Array.from({ length: 145 }, (_, at) => ({ from: `a${at}`, to: '😀'.repeat(100) })),
});

const folder = temporaryFolder();
const server = await startDatabase({ dir: path.join(folder, 'database') });
const db = openDatabase(server.url, { maxConnections: 1 });
const env = { DATABASE_URL: server.url, LOG_LEVEL: 'warn', RATE_LIMIT_DEFAULT: 'off', RATE_LIMIT_JOBS: 'off' };

await attack('a job of 23 MB, 40 times', async (account) => {
  const [id] = await insertJobs(account, 1, { segments: SEGMENTS });
  return Array(40).fill(`/v1/jobs/${id}`);
});
await attack('the account stream of 400 events of 1 MB, 10 times', async (account) => {
  await insertEvents(account, 400);
  return Array(10).fill(`/v1/stream?topics=events&after=${new Date(Date.now() - 3_600_000).toISOString()}`);
});
await attack('lists of 100 jobs with options of 60 KB, 40 times', async (account) => {
  await insertJobs(account, 100, { options: LONG_OPTIONS });
  return Array(40).fill('/v1/jobs?limit=100');
});
await attack('the captions of a job of 23 MB, 40 times', async (account) => {
  const [id] = await insertJobs(account, 1, { segments: SEGMENTS });
  return Array(40).fill(`/v1/jobs/${id}/transcript?format=srt`);
});
await attack('a search with long hits, 40 times', async (account) => {
  await insertChunks(account, await insertJobs(account, 100));
  return Array(40).fill('/v1/search?q=word&limit=100');
});
await attack(
  'a job of 23 MB, 40 times by each of 8 accounts',
  async (account) => {
    const [id] = await insertJobs(account, 1, { segments: SEGMENTS });
    return Array(40).fill(`/v1/jobs/${id}`);
  },
  8,
);
await db.close();
await server.stop();
rmSync(folder, { recursive: true });

/** Starts the service, lets `accounts` accounts send the requests that `prepare` returns, and reports what happened. */
async function attack(
  name: string,
  prepare: (account: ServiceAccount) => Promise<string[]>,
  accounts = 1,
): Promise<void> {
  await using service = await openService(env);
  const http = httpProcessOf(service.pid);
  const reader = await service.account();
  const attackers = await Promise.all(Array.from({ length: accounts }, () => service.account()));
  const paths: string[][] = [];
  for (const attacker of attackers) paths.push(await prepare(attacker));
  const before = residentMiB(http);
  let peak = before;
  using sampler = setInterval(() => {
    peak = Math.max(peak, residentMiB(http));
  }, SAMPLE_EVERY_MS);
  const statuses = new Map<string, number>();
  const sockets = attackers.flatMap(({ key }, at) =>
    paths[at]!.map((target) =>
      send(service.baseUrl, target, key, (status) => statuses.set(status, (statuses.get(status) ?? 0) + 1)),
    ),
  );
  const times: number[] = [];
  const endMs = performance.now() + ATTACK_MS;
  while (performance.now() < endMs) {
    const startMs = performance.now();
    const answer = await fetch(`${service.baseUrl}/v1/webhooks`, {
      headers: { authorization: `Bearer ${reader.key}` },
    });
    await answer.arrayBuffer();
    if (answer.status !== 200) throw new Error(`The other account got ${answer.status}`);
    times.push(performance.now() - startMs);
  }
  clearInterval(sampler);
  for (const socket of sockets) socket.destroy();
  const { p50, p99, max } = spread(times);
  report(name, `peak ${round(peak)} MiB (${round(before)}), p99 ${p99} ms`, '<= 350 MiB, <= 100 ms');
  console.log(`  answers ${JSON.stringify(Object.fromEntries(statuses))}; other account p50 ${p50}, max ${max} ms`);
}

/** A request whose answer is not read after its first bytes. */
function send(baseUrl: string, target: string, key: string, onStatus: (status: string) => void): net.Socket {
  const { port, hostname } = new URL(baseUrl);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n\r\n`);
  socket.once('readable', () => onStatus(String(socket.read(12) ?? '').slice(9, 12)));
  return socket;
}

async function insertJobs(
  account: ServiceAccount,
  count: number,
  { segments = '[]', options = '{}' } = {},
): Promise<string[]> {
  const ids = Array.from({ length: count }, () => makeId('job')).sort();
  await db.run({
    text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript, segments,
        options, cost_units, model, progress, created_at, started_at, completed_at)
      select $1, id, $2, 'completed', 'pro', false, 'wav', 1, 1000, 'text', $4, $5, 0, 'fake', 1, now(), now(), now()
      from unnest($3::text[]) as id`,
    values: [shardOf(account.id), account.id, ids, segments, options],
  });
  return ids;
}

async function insertEvents(account: ServiceAccount, count: number): Promise<void> {
  const ids = Array.from({ length: count }, () => makeId('evt')).sort();
  await db.run({
    text: `insert into events (shard, id, account_id, type, body, created_at)
      select $1, id, $2, 'transcription.completed', convert_to(json_build_object('text', repeat('x', 1000000))::text, 'utf8'), now()
      from unnest($3::text[]) as id`,
    values: [shardOf(account.id), account.id, ids],
  });
}

/** A chunk with one long hit of each job. */
async function insertChunks(account: ServiceAccount, jobIds: string[]): Promise<void> {
  const segments = JSON.stringify(
    Array.from({ length: 3 }, (_, at) => ({ start: at, end: at + 1, text: 'word '.repeat(20_000) })),
  );
  await db.run({
    text: `insert into transcript_chunks (shard, account_id, job_id, number, job_created_at, first_segment, segments, words)
      select $1, $2, id, 0, now(), 0, $4, $5::tsvector from unnest($3::text[]) as id`,
    values: [
      shardOf(account.id),
      account.id,
      jobIds,
      segments,
      `'word':1 '${ownerTag(account.id)}' '${languageTag('en')}'`,
    ],
  });
}

function residentMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024) / MIB;
}
