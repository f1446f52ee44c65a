import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { openServiceUnderLoad } from '../faults/service-under-load.ts';
import { openSpeechServer } from '../fixtures/servers/speech-server.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { finish, openEnvironment, PLACES, SPOKEN, submit, underWayWithin } from './jobs-under-way.ts';

// The promised limits, in ms.
const SAME_NODE_MS = 3_000;
const NEW_PROCESS_MS = 15_000;

test('after kill -9 of everything, running jobs are started again at once, before waiting jobs', async () => {
  await using here = await openEnvironment('embedded');
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
  const second = await until('the second attempt', () => receiver.requests[1], NEW_PROCESS_MS);
  hanging.resolve({ status: 204 });

  for (const name of ['x-service-event-id', 'x-service-attempt'])
    assert.equal(second.headers[name], first.headers[name]);
});
