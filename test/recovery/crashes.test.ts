import assert from 'node:assert/strict';
import { cpSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Database, openDatabase } from '../../src/db/database.ts';
import { openAccount } from '../faults/clients.ts';
import { DATABASES, openServiceUnderLoad, type ServiceUnderLoad } from '../faults/service-under-load.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { openSpeechServer, type SpeechServer } from '../fixtures/servers/speech-server.ts';
import { temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver, type Receiver } from '../fixtures/webhooks/receiver.ts';

const PLACES = 4;
const AUDIO = new Uint8Array(toneWav('ab'));
const SPOKEN = { body: JSON.stringify({ text: 'ab', segments: [] }) };
// The promised limits, in ms.
const SAME_NODE_MS = 3_000;
const OTHER_NODE_MS = 15_000;
const DATABASE_PAUSE_MS = 8_000;

type Job = { id: string; state: string; attempts: number; lease: number; holder: string | null };

/** A service with an engine whose answers the test controls, and its database. */
async function openEnvironment(kind: (typeof DATABASES)[number], places = PLACES) {
  const receiver = await openReceiver();
  const engine = await openSpeechServer('hold');
  const service = await openServiceUnderLoad(kind, receiver, {
    ENGINE_LITE: `openai:${engine.baseUrl}`,
    ENGINE_PRO: `openai:${engine.baseUrl}`,
    TRANSCRIBE_CONCURRENCY: String(places),
    LOG_LEVEL: 'info',
  });
  return {
    engine,
    service,
    receiver,
    jobs: new JobTable(service),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await engine[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

/** The jobs in the database; each call opens a connection, because the test kills databases. */
class JobTable {
  readonly #service: ServiceUnderLoad;

  constructor(service: ServiceUnderLoad) {
    this.#service = service;
  }

  async all(): Promise<Job[]> {
    return await this.ask((db) =>
      db.rows<Job>({ text: 'select id, state, attempts, lease, holder from jobs order by created_at, id' }),
    );
  }

  async underWay(): Promise<Job[]> {
    return (await this.all()).filter(({ state }) => state === 'processing');
  }

  async ask<Result>(question: (db: Database) => Promise<Result>): Promise<Result> {
    const db = openDatabase(this.#service.databaseUrl, { maxConnections: 1 });
    try {
      return await question(db);
    } finally {
      await db.close();
    }
  }
}

async function submit(service: ServiceUnderLoad, receiver: Receiver, count: number): Promise<void> {
  const { key } = await openAccount(service, receiver);
  for (let i = 0; i < count; i++) {
    const form = new FormData();
    form.append('async', 'true');
    form.append('file', new Blob([AUDIO]), 'tone.wav');
    const request = { method: 'POST', headers: { 'x-api-key': key }, body: form };
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, request);
    assert.equal(answer.status, 202, await answer.text());
  }
}

async function underWayWithin(jobs: JobTable, ids: string[], ms: number): Promise<void> {
  await until(
    `${ids.length} jobs to be under way again`,
    async () => {
      const found = (await jobs.underWay()).filter(({ id, lease }) => ids.includes(id) && lease === 2);
      return found.length === ids.length;
    },
    ms,
  );
}

async function finish(engine: SpeechServer, jobs: JobTable): Promise<void> {
  engine.answerAll(SPOKEN);
  engine.answerHeld(SPOKEN);
  await until('the end of every job', async () => (await jobs.all()).every(({ state }) => state === 'completed'));
}

for (const kind of DATABASES) {
  test(`after kill -9 of everything, running jobs are started again at once, before waiting jobs; ${kind} PostgreSQL`, async () => {
    await using here = await openEnvironment(kind);
    await submit(here.service, here.receiver, 34);
    await until('jobs under way', async () => (await here.jobs.underWay()).length === PLACES);
    const before = (await here.jobs.underWay()).map(({ id }) => id);

    // Resolves at readiness.
    await here.service.kill('everything');
    await underWayWithin(here.jobs, before, SAME_NODE_MS);

    const others = (await here.jobs.all()).filter(({ id }) => !before.includes(id));
    assert.deepEqual([...new Set(others.map(({ lease }) => lease))], [0]);
    const nodeId = path.join(here.service.dataDir, 'node-id');
    assert.equal(statSync(nodeId).mode & 0o777, 0o600);
    await finish(here.engine, here.jobs);
  });
}

test('after kill -9 of the transcriber alone, its jobs are started again at once, before waiting jobs', async () => {
  await using here = await openEnvironment('external');
  await submit(here.service, here.receiver, 12);
  await until('jobs under way', async () => (await here.jobs.underWay()).length === PLACES);
  const before = (await here.jobs.underWay()).map(({ id }) => id);

  await here.service.kill('transcriber');
  await until(
    'the queue',
    async () => (await here.jobs.underWay()).every(({ id, lease }) => lease === 2 || !before.includes(id)),
    SAME_NODE_MS,
  );
  await underWayWithin(here.jobs, before, 2 * SAME_NODE_MS);

  const others = (await here.jobs.all()).filter(({ id }) => !before.includes(id));
  assert.deepEqual([...new Set(others.map(({ lease }) => lease))], [0]);
  await finish(here.engine, here.jobs);
});

test('after kill -9 of the deliverer, its deliveries are sent again at once, with the same attempt number', async () => {
  const hanging = Promise.withResolvers<{ status: number }>();
  await using receiver = await openReceiver({ reply: (_, index) => (index === 0 ? hanging.promise : { status: 204 }) });
  await using engine = await openSpeechServer(SPOKEN);
  await using service = await openServiceUnderLoad('external', receiver, {
    ENGINE_LITE: `openai:${engine.baseUrl}`,
    ENGINE_PRO: `openai:${engine.baseUrl}`,
    WEBHOOK_TIMEOUT_MS: '30000',
  });
  await submit(service, receiver, 1);
  const first = await receiver.waitFor(1);

  await service.kill('deliverer');
  const killedAtMs = Date.now();
  const second = await receiver.waitFor(2);
  hanging.resolve({ status: 204 });

  // The new process needs time to start.
  assert.ok(second.receivedAt - killedAtMs < OTHER_NODE_MS, `${second.receivedAt - killedAtMs} ms`);
  for (const name of ['x-service-event-id', 'x-service-attempt'])
    assert.equal(second.headers[name], first.headers[name]);
});

test('another node starts the jobs of a killed node within 15 s', async () => {
  await using here = await openEnvironment('external');
  const { service, jobs } = here;
  await submit(service, here.receiver, PLACES);
  await until('jobs under way', async () => (await jobs.underWay()).length === PLACES);
  const before = (await jobs.underWay()).map(({ id }) => id);
  const first = (await jobs.all())[0]!.holder!.split('/')[0];

  // The same data directory has the same node-id: the first node keeps it.
  await service.addNode('transcriber');
  for (const pid of service.servicePids()) process.kill(pid, 'SIGKILL');
  await underWayWithin(jobs, before, OTHER_NODE_MS);

  assert.ok((await jobs.underWay()).every(({ holder }) => !holder!.startsWith(first!)));
});

test('a node on a copy of another data directory does not take the jobs of the copied node', async () => {
  await using here = await openEnvironment('external', 2);
  const { service, jobs } = here;
  await submit(service, here.receiver, 2);
  await until('jobs under way', async () => (await jobs.underWay()).length === 2);
  const copy = temporaryFolder();
  for (const name of ['node-id', 'admin-token', 'secrets-key', 'storage-id'])
    cpSync(path.join(service.dataDir, name), path.join(copy, name));
  // Both nodes have the audio storage that the database knows.
  symlinkSync(path.join(service.dataDir, 'audio'), path.join(copy, 'audio'));

  await service.addNode('transcriber', copy);

  assert.equal(
    readFileSync(path.join(copy, 'node-id'), 'utf8'),
    readFileSync(path.join(service.dataDir, 'node-id'), 'utf8'),
  );
  assert.match(readFileSync(path.join(copy, 'service.log'), 'utf8'), /another process runs as this node/);
  assert.deepEqual(
    (await jobs.all()).map(({ lease }) => lease),
    [1, 1],
  );
  await finish(here.engine, jobs);
});

test('a node keeps its jobs when the database stops for 8 s', async () => {
  await using here = await openEnvironment('external');
  const { service, jobs, engine } = here;
  await submit(service, here.receiver, 6);
  await until('jobs under way', async () => (await jobs.underWay()).length === PLACES);
  await service.addNode('transcriber');
  await until('all jobs under way', async () => (await jobs.underWay()).length === 6);

  const database = service.findDatabase();
  for (const pid of database) signal(pid, 'SIGSTOP');
  await pause(DATABASE_PAUSE_MS);
  for (const pid of database) signal(pid, 'SIGCONT');
  // Another worker would claim a job whose lease expired within one lease.
  await pause(OTHER_NODE_MS);

  assert.deepEqual(
    (await jobs.all()).map(({ attempts, lease }) => [attempts, lease]),
    Array(6).fill([1, 1]),
  );
  // Each of the two nodes begins with two requests at once; none was sent again.
  assert.equal(engine.requests.length, 4);
  await finish(engine, jobs);
});

/** A process of PostgreSQL may have ended since it was listed. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
