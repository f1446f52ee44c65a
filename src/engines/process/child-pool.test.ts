import assert from 'node:assert/strict';
import test from 'node:test';
import { asked, isEngineError } from '../../../test/fixtures/engine-conformance.ts';
import { killChildren } from '../../../test/fixtures/processes/children.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openLog } from '../../platform/log.ts';
import { openChildPool } from './child-pool.ts';

const short = new Int16Array(16_000);
const long = new Int16Array(32_000);

/** One process that takes memory without end when it is given a long piece, and may have 300 MB. */
function openEnvironment() {
  let restarts = 0;
  const pool = openChildPool({
    module: new URL('../../../test/fixtures/processes/greedy-child.ts', import.meta.url),
    ...{ settings: {}, environment: {}, memoryMaxBytes: 300e6, slots: 1 },
    ...{ startAdvice: 'Mend it.', log: openLog('silent'), onRestart: () => void (restarts += 1) },
  });
  return { pool, restarts: () => restarts, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

test('a process that takes more memory than it may is ended, and another takes the next call', async () => {
  await using fixture = openEnvironment();

  await assert.rejects(fixture.pool.transcribe(long, asked()), isEngineError('engine_error'));
  const next = await fixture.pool.transcribe(short, asked());

  assert.equal(next.language, 'en');
  assert.equal(fixture.restarts(), 1);
});

test('a process that is killed while it is idle counts as a restart', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());

  await killChildren();
  await fixture.pool.transcribe(short, asked());

  assert.equal(fixture.restarts(), 1);
});

test('a process that we end ourselves does not count as a restart', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());

  await assert.rejects(fixture.pool.transcribe(long, asked({ timeoutMs: 50 })), isEngineError('engine_timeout'));
  await until('the next process', () => fixture.pool.pids().length === 1);
  await fixture.pool.transcribe(short, asked());

  assert.equal(fixture.restarts(), 0);
});

// Of the first, Node tells by an event; for the second, it throws.
for (const { node, what } of [
  { node: '/nowhere/node', what: 'a moment later' },
  { node: `/${'x'.repeat(5_000)}`, what: 'at once' },
]) {
  test(`a process that cannot be started, which shows ${what}, fails the call that waits for it and no later one`, async () => {
    const real = process.execPath;
    process.execPath = node;
    await using fixture = openEnvironment();

    await assert.rejects(fixture.pool.transcribe(short, asked()), isEngineError('engine_error'));
    process.execPath = real;
    const next = await fixture.pool.transcribe(short, asked());

    assert.equal(next.language, 'en');
  });
}
