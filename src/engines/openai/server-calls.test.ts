import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { isEngineError } from '../../../test/fixtures/engine-conformance.ts';
import { type ManualClock, openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import { EngineError } from '../engine.ts';
import { ServerCalls } from './server-calls.ts';

const SECONDS = 30;
const TIMEOUT_MS = 60_000 + 4_000 * SECONDS;
const NEVER = new AbortController().signal;

/** A server that works on so many requests at once, and on a request to its end, whether or not its client is there. */
function openServer(clock: ManualClock, { workers = 1, pieceMs = 40_000 } = {}) {
  const semaphore = openSemaphore(workers);
  const seen = { begun: 0, underWay: 0, mostUnderWay: 0 };
  return {
    seen,
    async answer(): Promise<string> {
      seen.underWay += 1;
      seen.mostUnderWay = Math.max(seen.mostUnderWay, seen.underWay);
      await semaphore(async () => {
        seen.begun += 1;
        await clock.sleep(pieceMs);
      });
      seen.underWay -= 1;
      return 'heard';
    },
  };
}

function open(most = 16) {
  const manual = openManualClock();
  const clock: ManualClock = {
    ...manual,
    // Calls that were made just now are sent first.
    advance: async (ms) => await turnOfTheLoop().then(() => manual.advance(ms)),
  };
  const calls = new ServerCalls(most, clock);
  const call = (answer: () => Promise<string>, signal = NEVER) =>
    calls.run((ending) => unlessEnded(answer(), ending), { timeoutMs: TIMEOUT_MS, signal, seconds: SECONDS });
  return { clock, calls, call };
}

/** As of a connection that is closed by its client. */
function unlessEnded<Result>(answer: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(signal.reason));
  return Promise.race([answer, promise]);
}

test('of 16 calls at once of a server with one lock, none passes its time, and each is computed once', async () => {
  const { clock, call } = open();
  const server = openServer(clock);

  const all = Promise.all(Array.from({ length: 16 }, () => call(server.answer)));
  await clock.advance(16 * 40_000);

  assert.deepEqual(await all, Array(16).fill('heard'));
  assert.equal(server.seen.begun, 16);
  assert.ok(server.seen.mostUnderWay <= 3, `${server.seen.mostUnderWay} at once`);
});

test('a server with eight workers has more and more of many calls, and most of its workers are busy', async () => {
  const { clock, call } = open();
  const server = openServer(clock, { workers: 8, pieceMs: 1_000 });
  const callers = Array.from({ length: 16 }, async () => {
    for (let piece = 0; piece < 40; piece += 1) await call(server.answer);
  });

  await clock.advance(120_000);
  await Promise.all(callers);

  assert.equal(server.seen.begun, 640);
  assert.ok(server.seen.mostUnderWay >= 8, `${server.seen.mostUnderWay} at once`);
});

test('calls of a server that answers nothing are timeouts, also those that wait for the others', async () => {
  const { clock, call } = open();
  const stalled = () => new Promise<string>(() => undefined);

  const all = Array.from({ length: 5 }, () => assert.rejects(call(stalled), isEngineError('engine_timeout')));
  await clock.advance(TIMEOUT_MS);

  await Promise.all(all);
});

test('the time of a call counts from the last answer to another one', async () => {
  const { clock, call } = open(2);
  const other = Promise.withResolvers<string>();
  const slow = Promise.withResolvers<string>();
  const answered = call(() => other.promise);
  let isOver = false;
  const ended = assert
    .rejects(
      call(() => slow.promise),
      isEngineError('engine_timeout'),
    )
    .finally(() => (isOver = true));

  await clock.advance(TIMEOUT_MS - 1);
  other.resolve('heard');
  await answered;
  await clock.advance(TIMEOUT_MS - 1);
  const before = isOver;
  await clock.advance(1);
  await ended;

  assert.equal(before, false);
});

test('a request that the server has lost ends, however many others are answered', async () => {
  const { clock, call } = open();
  const server = openServer(clock, { workers: 8, pieceMs: 1_000 });
  const leaving = new AbortController();
  const lost = call(() => new Promise<string>(() => undefined)).then(null, (error) => leaving.abort(error));

  const others = Array.from({ length: 6 }, async () => {
    while (!leaving.signal.aborted) await call(server.answer);
  });
  await clock.advance(2 * TIMEOUT_MS - 1);
  const before = leaving.signal.aborted;
  await clock.advance(1_001);
  await Promise.all([lost, ...others]);

  assert.equal(before, false);
  assert.ok(isEngineError('engine_timeout')(leaving.signal.reason));
});

test('an answer that refuses the audio is an answer', async () => {
  const { clock, call } = open(2);
  const refused = Promise.withResolvers<string>();
  const slow = Promise.withResolvers<string>();
  const refusal = call(() => refused.promise).catch((error) => error);
  const answered = call(() => slow.promise);

  await clock.advance(TIMEOUT_MS - 1);
  refused.reject(new EngineError('engine_error', 'No.', { failure: { kind: 'status', status: 400 } }));
  await refusal;
  await clock.advance(TIMEOUT_MS - 1);
  slow.resolve('heard');

  assert.equal(await answered, 'heard');
});
