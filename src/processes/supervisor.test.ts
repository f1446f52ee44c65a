import assert from 'node:assert/strict';
import test from 'node:test';
import { openLog } from '../platform/log.ts';
import { Supervisor } from './supervisor.ts';

const STOP_MS = 5_000;

/** One supervised role; `node` is the program that its process is started with until `mend` is called. */
function openSupervisor(node: string) {
  const real = process.execPath;
  const running = Promise.withResolvers<string>();
  process.execPath = node;
  const mend = () => {
    process.execPath = real;
  };
  try {
    const roles = new Supervisor(['deliverer'], {
      entry: new URL('../../test/fixtures/processes/role-process.ts', import.meta.url),
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
