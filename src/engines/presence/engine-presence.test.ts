import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { asked, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openLog } from '../../platform/log.ts';
import type { EngineFailure } from '../../rules/fault.ts';
import { EngineError, type Transcript } from '../engine.ts';
import { EngineAwayError, EnginePresence } from './engine-presence.ts';

const PIECE = new Int16Array(16_000);
const REFUSED: EngineFailure = { kind: 'connection' };

const failing = (failure: EngineFailure) => new EngineError('engine_error', `It failed: ${failure.kind}.`, { failure });
const saying = (text: string): Transcript => ({
  language: 'en',
  segments: [{ text, startSeconds: 0, endSeconds: 1, confidence: null, words: [] }],
});

/** An engine whose calls and probes end as the lists say; without an entry they succeed. */
function openEnvironment({ calls = [] as EngineFailure[], probes = [] as boolean[] } = {}) {
  const clock = openManualClock();
  const made = { calls: 0, probes: 0, checks: 0 };
  const checks = { fail: false };
  const engine = {
    ...openFakeEngine(),
    async warmUp() {
      made.checks += 1;
      if (checks.fail) throw failing(REFUSED);
    },
    async transcribe() {
      made.calls += 1;
      const failure = calls.shift();
      if (failure) throw failing(failure);
      return saying('words');
    },
  };
  const presence = new EnginePresence(engine, {
    clock,
    log: openLog('silent'),
    async probe() {
      made.probes += 1;
      if (!(probes.shift() ?? true)) throw failing(REFUSED);
    },
  });
  const stopping = new AbortController();
  const watching: Promise<void>[] = [];
  return {
    presence,
    clock,
    made,
    checks,
    /** Resolves when it sleeps for the first time. */
    async watch() {
      watching.push(presence.watch(stopping.signal));
      await turnOfTheLoop();
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await Promise.all(watching);
    },
  };
}

for (const failure of [REFUSED, { kind: 'status', status: 503 }, { kind: 'start' }, { kind: 'timeout' }] as const) {
  test(`after ${JSON.stringify(failure)} an engine that fails its probe is away`, async () => {
    await using environment = openEnvironment({ calls: [failure], probes: [false] });
    const { presence, made } = environment;

    await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);

    assert.equal(presence.absence()?.sinceMs, 0);
    assert.deepEqual([made.calls, made.probes], [1, 1]);
  });
}

test('a call that failed is made again when the engine passes the probe', async () => {
  await using environment = openEnvironment({ calls: [REFUSED, { kind: 'piece' }] });

  assert.equal(textOf(await environment.presence.transcribe(PIECE, asked())), 'words');

  assert.deepEqual([environment.made.calls, environment.made.probes], [3, 2]);
  assert.equal(environment.presence.absence(), null);
});

test('a piece on which an engine fails three times while it passes the probe is at fault', async () => {
  const failure = { kind: 'status', status: 500 } as const;
  await using environment = openEnvironment({ calls: [failure, failure, failure] });
  const { presence, made } = environment;

  await assert.rejects(presence.transcribe(PIECE, asked()), (error: Error) => {
    assert.ok(!(error instanceof EngineAwayError));
    return /^The speech server failed on this audio/.test(error.message);
  });

  assert.deepEqual([made.calls, made.probes, presence.absence()], [3, 3, null]);
});

test('a piece that ended three processes is not given to others', async () => {
  await using environment = openEnvironment({ calls: [{ kind: 'died' }] });

  await assert.rejects(environment.presence.transcribe(PIECE, asked()), /It failed: died/);

  assert.deepEqual([environment.made.calls, environment.made.probes], [1, 1]);
});

test('what the engine cannot do is neither probed nor tried again', async () => {
  await using environment = openEnvironment({ calls: [{ kind: 'request' }] });

  await assert.rejects(environment.presence.transcribe(PIECE, asked()), /It failed: request/);

  assert.deepEqual([environment.made.calls, environment.made.probes], [1, 0]);
});

test('an engine that is away is probed every second at first, later every half minute, until it is back', async () => {
  await using environment = openEnvironment({ calls: [REFUSED], probes: Array(1_000).fill(false) });
  const { presence, made, clock } = environment;
  await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);
  const probesIn = async (ms: number) => {
    const before = made.probes;
    await clock.advance(ms);
    return made.probes - before;
  };

  await environment.watch();
  const inFirst5Seconds = await probesIn(5_000);
  await probesIn(3_600_000);
  const inAnHour = await probesIn(60_000);

  assert.ok(inFirst5Seconds >= 5 && inFirst5Seconds <= 6, `${inFirst5Seconds} probes in 5 s`);
  assert.equal(inAnHour, 2);
  assert.equal(presence.absence()?.sinceMs, 0);
});

test('an engine that passes a probe is there again', async () => {
  await using environment = openEnvironment({ calls: [REFUSED], probes: [false, false, true] });
  const { presence, clock } = environment;
  await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);

  await environment.watch();
  await clock.advance(2_000);

  assert.equal(presence.absence(), null);
});

test('an engine that is idle is checked every minute, and is away when the check fails', async () => {
  await using environment = openEnvironment({ probes: Array(1_000).fill(false) });
  const { presence, clock, made, checks } = environment;
  await environment.watch();

  await clock.advance(59_000);
  const before = made.checks;
  checks.fail = true;
  await clock.advance(2_000);

  assert.deepEqual([before, made.checks], [0, 1]);
  assert.match(presence.absence()?.cause.message ?? '', /connection/);
});

test('a call that its caller aborts says nothing about the engine', async () => {
  await using environment = openEnvironment({ calls: [REFUSED] });
  const aborted = AbortSignal.abort(new Error('no longer wanted'));

  await assert.rejects(environment.presence.transcribe(PIECE, asked({ signal: aborted })), /no longer wanted/);

  assert.deepEqual([environment.made.probes, environment.presence.absence()], [0, null]);
});
