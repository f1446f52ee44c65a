import assert from 'node:assert/strict';
import test from 'node:test';
import { pino } from 'pino';
import { asked, isEngineError } from '../../../test/fixtures/engine-conformance.ts';
import { killChildren } from '../../../test/fixtures/processes/children.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { EngineError } from '../engine.ts';
import { ChildPool } from './child-pool.ts';

const short = new Int16Array(16_000);
const long = new Int16Array(32_000);

/** A pool of one process with a limit of 300 MB, which a long piece makes it exceed. */
function openEnvironment() {
  let restarts = 0;
  let messages = 0;
  const lines: string[] = [];
  const pool = new ChildPool({
    module: new URL('../../../test/fixtures/processes/greedy-child.ts', import.meta.url),
    settings: {},
    environment: {},
    memoryMaxBytes: 300e6,
    slots: 1,
    startAdvice: 'Mend it.',
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) }),
    onRestart: () => void (restarts += 1),
    onMessages: () => void (messages += 1),
  });
  const counts = { restarts: () => restarts, messages: () => messages };
  return { pool, lines, ...counts, [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose]() };
}

test('a call that ends three processes by their memory limit fails, and another process answers the next', async () => {
  await using fixture = openEnvironment();

  await assert.rejects(fixture.pool.transcribe(long, asked()), (error: EngineError) => error.failure.kind === 'died');
  const next = await fixture.pool.transcribe(short, asked());

  assert.equal(next.language, 'en');
  assert.equal(fixture.restarts(), 3);
});

test('a call whose process is killed is given to another process', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());

  const given = fixture.pool.transcribe(short, asked());
  await killChildren();

  assert.equal((await given).language, 'en');
  assert.equal(fixture.restarts(), 1);
});

test('a call during which a process writes errors is counted, marked, and logged with its job', async () => {
  await using fixture = openEnvironment();
  const marks: unknown[] = [];

  for (const piece of [short, short.subarray(0, 8_000), short]) {
    marks.push((await fixture.pool.transcribe(piece, { ...asked(), jobId: 'job_1' })).hasErrors);
  }

  assert.deepEqual([fixture.messages(), marks], [1, [undefined, true, undefined]]);
  const line = JSON.parse(fixture.lines[0]!);
  assert.deepEqual([line.job_id, line.messages], ['job_1', 'Caught exception: too short']);
});

test('a process that is killed while it is idle counts as a restart', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());

  await killChildren();
  await fixture.pool.transcribe(short, asked());

  assert.equal(fixture.restarts(), 1);
});

test('a process that the pool kills does not count as a restart', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());

  await assert.rejects(fixture.pool.transcribe(long, asked({ timeoutMs: 50 })), isEngineError('engine_timeout'));
  await until('the next process', () => fixture.pool.pids().length === 1);
  await fixture.pool.transcribe(short, asked());

  assert.equal(fixture.restarts(), 0);
});

test('a process that answers while it is killed fails no later call', async () => {
  await using fixture = openEnvironment();
  await fixture.pool.transcribe(short, asked());
  const aborted = new AbortController();
  const given = fixture.pool.transcribe(short, asked({ signal: aborted.signal }));
  await new Promise(process.nextTick);

  // The answer arrives meanwhile, and is read after the abort.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  aborted.abort(new Error('no longer wanted'));
  const next = fixture.pool.transcribe(short, asked());

  await assert.rejects(given, /no longer wanted/);
  assert.equal((await next).language, 'en');
  assert.equal(fixture.restarts(), 0);
});

// `spawn` emits an event for the first path and throws for the second.
for (const { node, what } of [
  { node: '/nowhere/node', what: 'later' },
  { node: `/${'x'.repeat(5_000)}`, what: 'at once' },
]) {
  test(`a process that cannot start, known ${what}, fails the waiting call and no later one`, async () => {
    const real = process.execPath;
    process.execPath = node;
    await using fixture = openEnvironment();

    await assert.rejects(fixture.pool.transcribe(short, asked()), isEngineError('engine_error'));
    process.execPath = real;
    const next = await fixture.pool.transcribe(short, asked());

    assert.equal(next.language, 'en');
  });
}
