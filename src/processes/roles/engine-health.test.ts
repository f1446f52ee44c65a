import assert from 'node:assert/strict';
import test from 'node:test';
import { asked } from '../../../test/fixtures/engine-conformance.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { type Engine, EngineError } from '../../engines/engine.ts';
import { openLog } from '../../platform/log.ts';
import type { RoleStatus } from '../messages.ts';
import { watchEngines } from './engine-health.ts';

/** Watches one engine, on a clock that advances by a second at each poll. */
function openEnvironment({ failing = false } = {}) {
  const state = { now: 0, failing, trouble: null as EngineError | null, checks: 0 };
  const engine: Engine = {
    ...openFakeEngine({ says: 'hello' }),
    trouble: () => state.trouble,
    async warmUp() {
      state.checks += 1;
      if (state.failing) throw new EngineError('engine_error', 'The model is gone.');
    },
  };
  const statuses: RoleStatus[] = [];
  const stopping = new AbortController();
  let nextPoll = Promise.withResolvers<() => void>();
  const clock = {
    now: () => state.now,
    sleep: () => new Promise<void>((resolve) => nextPoll.resolve(resolve)),
  };
  const report = (status: RoleStatus) => void statuses.push(status);
  const watch = watchEngines({ lite: engine, pro: engine }, { clock, report, log: openLog('silent') }, stopping.signal);
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      const wake = await nextPoll.promise;
      nextPoll = Promise.withResolvers();
      state.now += 1000;
      wake();
    }
    await nextPoll.promise;
  }
  return {
    state,
    statuses,
    pass,
    ...watch,
    async [Symbol.asyncDispose]() {
      const wake = await nextPoll.promise;
      stopping.abort();
      wake();
      await watch.watching;
    },
  };
}

const AWAY = new EngineError('engine_error', 'The server does not answer.', {
  cause: new Error('no answer from http://10.0.0.9'),
});
const READY = { ready: true, reasons: [] };

test('an engine that has worked is ready, and is checked after an idle minute', async () => {
  await using fixture = openEnvironment();

  await fixture.pass(59);
  const checksBefore = fixture.state.checks;
  await fixture.pass(1);

  assert.deepEqual([checksBefore, fixture.state.checks], [0, 1]);
  assert.deepEqual(fixture.statuses, [READY]);
});

test('an engine that fails its check is not ready until a check succeeds, tried every five seconds', async () => {
  await using fixture = openEnvironment({ failing: true });

  await fixture.pass(60);
  await fixture.pass(5);
  fixture.state.failing = false;
  await fixture.pass(5);

  assert.equal(fixture.state.checks, 3);
  assert.deepEqual(fixture.statuses, [
    READY,
    { ready: false, reasons: ['The model is gone.'], details: ['The model is gone.'] },
    READY,
  ]);
});

test('an engine that transcribed within the minute is not checked', async () => {
  await using fixture = openEnvironment({ failing: true });
  await fixture.pass(59);

  await fixture.engines.lite.transcribe(new Int16Array(16_000), asked());
  await fixture.pass(59);

  assert.equal(fixture.state.checks, 0);
});

test('a failure that the engine reports is reported within a second, and so is its end', async () => {
  await using fixture = openEnvironment();
  await fixture.pass(1);

  fixture.state.trouble = AWAY;
  await fixture.pass(1);
  fixture.state.trouble = null;
  await fixture.pass(1);

  assert.deepEqual(fixture.statuses, [
    READY,
    {
      ready: false,
      reasons: ['The server does not answer.'],
      details: ['The server does not answer. (no answer from http://10.0.0.9)'],
    },
    READY,
  ]);
});

test('an engine that reports a failure is checked every five seconds until it works', async () => {
  await using fixture = openEnvironment();
  fixture.state.trouble = AWAY;
  fixture.state.failing = true;
  await fixture.pass(17);
  const checks = fixture.state.checks;

  fixture.state.failing = false;
  fixture.state.trouble = null;
  await fixture.pass(5);

  assert.equal(checks, 3);
  assert.deepEqual(
    fixture.statuses.map(({ ready, reasons }) => [ready, ...reasons]),
    [[true], [false, 'The server does not answer.'], [false, 'The model is gone.'], [true]],
  );
});

test('an engine that two plans share is watched once', async () => {
  await using fixture = openEnvironment();

  await fixture.pass(60);

  assert.equal(fixture.engines.lite, fixture.engines.pro);
  assert.equal(fixture.state.checks, 1);
});
