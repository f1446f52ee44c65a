import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import test, { after } from 'node:test';
import { readConfig } from '../../src/config/settings.ts';
import { processesFor } from '../../src/processes/parts.ts';
import { descendantsOf, isAlive } from '../fixtures/processes/process-list.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

// Of the tests after which it runs as before.
const service = await openService();
after(() => service[Symbol.asyncDispose]());

test('each role has the process that the cores give it, and a killed process is started again', async () => {
  const deliverer = () => roleProcesses(service.pid).find(({ parts }) => parts.includes('deliverer'));
  const victim = deliverer()!;
  process.kill(victim.pid, 'SIGKILL');

  await until('a new deliverer', () => (deliverer()?.pid ?? victim.pid) !== victim.pid);
  await until('readiness', async () => (await fetch(`${service.baseUrl}/readyz`)).ok);

  const wanted = processesFor(readConfig({}).roles, availableParallelism());
  assert.deepEqual(
    roleProcesses(service.pid)
      .map(({ parts }) => parts.join())
      .sort(),
    wanted.map(String).sort(),
  );
});

test('SIGTERM ends the service with code 0 and leaves no process behind', async () => {
  const own = await openService();
  const pids = descendantsOf(own.pid).map(({ pid }) => pid);

  await own.stop();

  assert.equal(own.exitCode(), 0);
  assert.deepEqual(pids.filter(isAlive), []);
});

test('when the parent is killed, every other process ends by itself and the next start works', async () => {
  const dataDir = temporaryFolder();
  const first = await openService({}, dataDir);
  const { id } = await first.account();
  const pids = descendantsOf(first.pid).map(({ pid }) => pid);

  await first.crash();
  await until('the end of every process', () => !pids.some(isAlive));
  await using again = await openService({}, dataDir);

  const answer = await fetch(`${again.baseUrl}/admin/v1/accounts/${id}`, {
    headers: { authorization: `Bearer ${again.adminToken}` },
  });
  assert.equal(answer.status, 200);
});

test('a killed PostgreSQL is started again while the service runs', async () => {
  const { key } = await service.account();
  const [postgres] = descendantsOf(service.pid).filter(({ arguments: [program] }) => program?.endsWith('/postgres'));
  process.kill(postgres!.pid, 'SIGKILL');

  const answer = await until('an answer from the database', async () => {
    const tried = await fetch(`${service.baseUrl}/v1/balance`, { headers: { 'x-api-key': key } });
    return tried.status === 200 ? tried : null;
  });

  assert.equal(answer.status, 200);
});

test('a port in use ends the start with an error message', async () => {
  const second = openService({ PORT: String(new URL(service.baseUrl).port) });

  await assert.rejects(second, /port \d+ .* taken/i);
});

/** The processes of the roles, with the parts of the node that each runs. */
function roleProcesses(parentPid: number) {
  return descendantsOf(parentPid).flatMap(({ pid, arguments: args }) => {
    const entry = args.findIndex((argument) => /\/role-process\.js$/.test(argument));
    return entry < 0 ? [] : [{ pid, parts: args.slice(entry + 1) }];
  });
}
