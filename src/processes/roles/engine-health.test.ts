import assert from 'node:assert/strict';
import test from 'node:test';
import { asked } from '../../../test/fixtures/engine-conformance.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import type { Engine } from '../../engines/engine.ts';
import { EngineError } from '../../engines/engine.ts';
import { openLog } from '../../platform/log.ts';
import type { RoleStatus } from '../messages.ts';
import { watchEngines } from './engine-health.ts';

/** A watch over one engine, on a clock that moves a second each time the watch has looked. */
function openEnvironment({ failing = false } = {}) {
  const state = { now: 0, failing, trouble: null as EngineError | null, proofs: 0 };
  const engine: Engine = {
    ...openFakeEngine({ says: 'hello' }),
    trouble: () => state.trouble,
    async warmUp() {
      state.proofs += 1;
      if (state.failing) throw new EngineError('engine_error', 'The model is gone.');
    },
  };
  const statuses: RoleStatus[] = [];
  const stopping = new AbortController();
  let nextLook = Promise.withResolvers<() => void>();
  const clock = {
    now: () => state.now,
    sleep: () => new Promise<void>((resolve) => nextLook.resolve(resolve)),
  };
  const report = (status: RoleStatus) => void statuses.push(status);
  const watch = watchEngines(
    { lite: engine, pro: engine },
    { clock, report, log: openLog('silent'), signal: stopping.signal },
  );
  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      const wake = await nextLook.promise;
      nextLook = Promise.withResolvers();
      state.now += 1000;
      wake();
    }
    await nextLook.promise;
  }
  return {
    ...{ state, statuses, pass, ...watch },
    async [Symbol.asyncDispose]() {
      const wake = await nextLook.promise;
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

test('an engine that has once worked is ready, and proves itself after a minute of idleness', async () => {
  await using fixture = openEnvironment();

  await fixture.pass(59);
  const proofsBefore = fixture.state.proofs;
  await fixture.pass(1);

  assert.deepEqual([proofsBefore, fixture.state.proofs], [0, 1]);
  assert.deepEqual(fixture.statuses, [READY]);
});

test('an engine that fails its proof is not ready until it passes one, tried every five seconds', async () => {
  await using fixture = openEnvironment({ failing: true });

  await fixture.pass(60);
  await fixture.pass(5);
  fixture.state.failing = false;
  await fixture.pass(5);

  assert.equal(fixture.state.proofs, 3);
  assert.deepEqual(fixture.statuses, [
    READY,
    { ready: false, reasons: ['The model is gone.'], details: ['The model is gone.'] },
    READY,
  ]);
});

test('work that succeeds is proof enough', async () => {
  await using fixture = openEnvironment({ failing: true });
  await fixture.pass(59);

  await fixture.engines.lite.transcribe(new Int16Array(16_000), asked());
  await fixture.pass(59);

  assert.equal(fixture.state.proofs, 0);
});

test('trouble that the engine itself tells of is told within a second, and so is its end', async () => {
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

test('an engine that tells of trouble is asked to prove itself every five seconds, until the trouble is over', async () => {
  await using fixture = openEnvironment();
  fixture.state.trouble = AWAY;
  fixture.state.failing = true;
  await fixture.pass(17);
  const proofs = fixture.state.proofs;

  fixture.state.failing = false;
  fixture.state.trouble = null;
  await fixture.pass(5);

  assert.equal(proofs, 3);
  assert.deepEqual(
    fixture.statuses.map(({ ready, reasons }) => [ready, ...reasons]),
    [[true], [false, 'The server does not answer.'], [false, 'The model is gone.'], [true]],
  );
});

test('two plans with one engine are watched as one', async () => {
  await using fixture = openEnvironment();

  await fixture.pass(60);

  assert.equal(fixture.engines.lite, fixture.engines.pro);
  assert.equal(fixture.state.proofs, 1);
});
