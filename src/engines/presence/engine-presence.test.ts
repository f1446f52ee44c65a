import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { asked, textOf } from '../../../test/fixtures/engine-conformance.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { type Log, openLog } from '../../platform/log.ts';
import type { EngineFailure } from '../../rules/fault.ts';
import { type Engine, EngineError, type Transcript } from '../engine.ts';
import { EngineAwayError, EnginePresence } from './engine-presence.ts';
import { probe } from './probe.ts';

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
    says: 'words',
    ...openFakeEngine(),
    async warmUp() {
      made.checks += 1;
      if (checks.fail) throw failing(REFUSED);
    },
    async transcribe() {
      made.calls += 1;
      const failure = calls.shift();
      if (failure) throw failing(failure);
      return saying(engine.says);
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
    engine,
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

test('an engine without a model is one line in the log, whatever its reason says of the download', async () => {
  let percent = 0;
  const noModel = async () => {
    percent += 1;
    throw new EngineError('engine_error', `No model yet: fetching, ${percent} %.`, { failure: { kind: 'model' } });
  };
  const engine = { name: 'none', warmUp: noModel, transcribe: noModel } as unknown as Engine;
  const lines: unknown[][] = [];
  const keep = (...line: unknown[]) => void lines.push(line);
  const log = { info: keep, warn: keep } as unknown as Log;
  const presence = new EnginePresence(engine, { clock: openManualClock(), log, probe: noModel });

  for (let call = 0; call < 3; call += 1) await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);

  assert.ok(percent >= 3);
  assert.deepEqual(lines, [['no model yet; jobs wait']]);
});

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

/** An engine whose calls the test answers, and the probes that it got. */
function openHeldEngine(probe = async () => undefined) {
  const engine = openFakeEngine({ slots: 2 });
  const made = { probes: 0 };
  const presence = new EnginePresence(engine, {
    clock: openManualClock(),
    log: openLog('silent'),
    async probe() {
      made.probes += 1;
      await probe();
    },
  });
  return { engine, made, presence };
}

test('words of another call are as good as a probe, which is not made while calls are under way', async () => {
  const { engine, made, presence } = openHeldEngine();
  const first = presence.transcribe(PIECE, asked());
  const failed = await engine.nextCall();
  const second = presence.transcribe(PIECE, asked());
  const answered = await engine.nextCall();

  failed.fail(failing({ kind: 'timeout' }));
  await turnOfTheLoop();
  const meanwhile = [made.probes, presence.absence()?.cause.message];
  answered.say('words');
  const again = await engine.nextCall();
  const after = presence.absence();
  again.say('words');

  assert.deepEqual([textOf(await first), textOf(await second)], ['words', 'words']);
  assert.deepEqual([meanwhile, after, made.probes], [[0, 'It failed: timeout.'], null, 0]);
});

test('an engine is probed once all calls under way have ended without words', async () => {
  const { engine, made, presence } = openHeldEngine(async () => Promise.reject(failing(REFUSED)));
  const calls = [presence.transcribe(PIECE, asked()), presence.transcribe(PIECE, asked())];
  const [one, other] = [await engine.nextCall(), await engine.nextCall()];

  one.fail(failing({ kind: 'timeout' }));
  await turnOfTheLoop();
  const meanwhile = made.probes;
  other.fail(failing({ kind: 'timeout' }));

  for (const call of calls) await assert.rejects(call, EngineAwayError);
  assert.deepEqual([meanwhile, made.probes], [0, 1]);
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

const SIGNAL = new AbortController().signal;

test('an engine is probed for words at the third piece in a row without one, and is away when it gives none', async () => {
  await using environment = openEnvironment({ probes: [false] });
  const { presence, made } = environment;
  await presence.transcribe(PIECE, asked());

  await presence.gaveNoWords(SIGNAL);
  await presence.gaveNoWords(SIGNAL);
  const before = made.probes;

  await assert.rejects(presence.gaveNoWords(SIGNAL), EngineAwayError);
  assert.deepEqual([before, made.probes, presence.absence()?.sinceMs], [0, 1, 0]);
});

test('words between pieces without words keep an engine from being probed', async () => {
  await using environment = openEnvironment();
  const { presence, made } = environment;

  for (let i = 0; i < 10; i += 1) {
    await presence.transcribe(PIECE, asked());
    await presence.gaveNoWords(SIGNAL);
    await presence.gaveNoWords(SIGNAL);
  }

  assert.equal(made.probes, 0);
});

test('an engine that gave no words for a minute is probed at the first piece without words', async () => {
  await using environment = openEnvironment({ probes: [true, false] });
  const { presence, made, clock } = environment;

  await presence.gaveNoWords(SIGNAL);
  const atStart = made.probes;
  await clock.advance(59_999);
  await presence.gaveNoWords(SIGNAL);
  const within = made.probes;
  await clock.advance(1);

  await assert.rejects(presence.gaveNoWords(SIGNAL), EngineAwayError);
  assert.deepEqual([atStart, within, made.probes], [1, 1, 2]);
});

test('an engine that passes is probed for words every ten seconds at most, however much speech is unclear', async () => {
  await using environment = openEnvironment();
  const { presence, made, clock } = environment;

  for (let i = 0; i < 600; i += 1) {
    await presence.gaveNoWords(SIGNAL);
    await clock.advance(100);
  }

  assert.deepEqual([made.probes, presence.absence()], [6, null]);
});

test('pieces that got no words while the engine is away are not probed for: its absence is known', async () => {
  await using environment = openEnvironment({ calls: [REFUSED], probes: [false] });
  const { presence, made } = environment;
  await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);

  await assert.rejects(presence.gaveNoWords(SIGNAL), EngineAwayError);

  assert.equal(made.probes, 1);
});

for (const text of ['', '.', '… ♪ !']) {
  test(`a text without letters (${JSON.stringify(text)}) does not end an absence, and words do`, async () => {
    await using environment = openEnvironment({ calls: [REFUSED], probes: [false] });
    const { presence, engine } = environment;
    await assert.rejects(presence.transcribe(PIECE, asked()), EngineAwayError);

    engine.says = text;
    await presence.transcribe(PIECE, asked());
    const after = presence.absence()?.sinceMs;
    engine.says = 'words';
    await presence.transcribe(PIECE, asked());

    assert.deepEqual([after, presence.absence()], [0, null]);
  });

  test(`the probe asks for words: ${JSON.stringify(text)} for real speech fails it`, async () => {
    await assert.rejects(probe(openFakeEngine({ says: text }), SIGNAL), /gives no words for speech/);
    await assert.rejects(
      probe({ ...openFakeEngine(), transcribe: async () => ({ segments: [], language: null }) }, SIGNAL),
      /gives no words for speech/,
    );
    await probe(openFakeEngine({ says: 'Wörter' }), SIGNAL);
  });
}
