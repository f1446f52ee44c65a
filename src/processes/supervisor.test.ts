import assert from 'node:assert/strict';
import test from 'node:test';
import { until } from '../../test/fixtures/until.ts';
import { openLog } from '../platform/log.ts';
import { Supervisor } from './supervisor.ts';

const STOP_MS = 5_000;
const ENTRY = new URL('../../test/fixtures/processes/role-process.ts', import.meta.url);

/** One supervised role; `node` is the program that its process is started with until `mend` is called. */
function openSupervisor(node: string) {
  const real = process.execPath;
  const running = Promise.withResolvers<string>();
  process.execPath = node;
  const mend = () => {
    process.execPath = real;
  };
  try {
    const roles = new Supervisor([['deliverer']], {
      entry: ENTRY,
      log: openLog('silent'),
      onFatal: running.resolve,
    });
    return { running: running.promise, roles, mend };
  } catch (cause) {
    mend();
    throw cause;
  }
}

// Of the first, Node tells by an event; for the second, it throws.
for (const node of ['/nowhere/node', `/${'x'.repeat(5_000)}`]) {
  const what = node.length > 100 ? 'at once' : 'a moment later';

  test(`a process that could not be started, which shows ${what}, is started again`, async () => {
    const { running, roles, mend } = openSupervisor(node);
    mend();

    assert.match(await running, /runs$/);
    await roles.stop(STOP_MS);
  });

  test(`a stop does not wait for a process that could not be started, which shows ${what}`, async () => {
    const { roles, mend } = openSupervisor(node);
    mend();

    await assert.doesNotReject(roles.stop(STOP_MS));
  });
}

test('the end of a process with two roles makes both not ready, and it is started again with both', async () => {
  const messages: string[] = [];
  const ended: string[] = [];
  const roles = new Supervisor([['transcriber', 'deliverer'], ['http']], {
    entry: ENTRY,
    log: openLog('silent'),
    onFatal: (message) => void messages.push(message),
    onHolderEnded: (holder) => void ended.push(holder),
  });
  roles.start({
    nodeId: 'node',
    databaseUrl: '',
    adminToken: '',
    secretsKeysBase64: '',
    sandbox: null,
    storageId: null,
  });
  const starts = () =>
    messages.flatMap((message) => /^process (\d+) with transcriber,deliverer/.exec(message)?.[1] ?? []);
  const crashed = (message: string) => /transcriber process crashed.*deliverer process crashed/.test(message);

  await until('the start and the first statuses', () => starts().length === 1 && messages.some(isOfStatuses));
  const first = messages.find(isOfStatuses);
  process.kill(Number(starts()[0]), 'SIGKILL');
  await until('the statuses and the next start', () => starts().length === 2 && messages.some(crashed));
  await roles.stop(STOP_MS);

  assert.deepEqual(JSON.parse(first!), {
    transcriber: { ready: false, reasons: ['The transcriber process is starting.'] },
    deliverer: { ready: false, reasons: ['The deliverer process is starting.'] },
  });
  assert.equal(ended.length, 3);
});

function isOfStatuses(message: string): boolean {
  return message.startsWith('{');
}
