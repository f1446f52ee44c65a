import assert from 'node:assert/strict';
import { cpSync, readFileSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { finish, openEnvironment, PLACES, submit, underWayWithin } from './jobs-under-way.ts';

// The promised limits, in ms.
const SAME_NODE_MS = 3_000;
const OTHER_NODE_MS = 15_000;
const DATABASE_PAUSE_MS = 8_000;

test('after kill -9 of everything and of an external PostgreSQL, running jobs are started again at once', async () => {
  await using here = await openEnvironment('external');
  await submit(here.service, here.receiver, 34);
  await until('jobs under way', async () => (await here.jobs.underWay()).length === PLACES);
  const before = (await here.jobs.underWay()).map(({ id }) => id);

  // Resolves at readiness.
  await here.service.kill('everything');
  await underWayWithin(here.jobs, before, SAME_NODE_MS);

  const others = (await here.jobs.all()).filter(({ id }) => !before.includes(id));
  assert.deepEqual([...new Set(others.map(({ lease }) => lease))], [0]);
  await finish(here.engine, here.jobs);
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
