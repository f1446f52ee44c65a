import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type Absence, EngineError, SAMPLE_RATE } from '../engine.ts';
import { EngineAwayError } from '../presence/engine-presence.ts';
import type { VoiceDetector } from '../vad/vad.ts';
import { agreementEngine } from './agreement-engine.ts';
import type { LivePartial } from './live-engine.ts';

const SECOND = Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 8_000 * Math.sin(at / 5));

type Detector = Pick<VoiceDetector, 'find'> | null;

function openSegment(detector: Detector = null, says?: string) {
  const engine = openFakeEngine(says === undefined ? {} : { says });
  const clock = openManualClock();
  const live = agreementEngine(engine, { clock, stepSeconds: 1, sessions: 1, detector });
  const partials: LivePartial[] = [];
  const segment = live.open({ language: 'en' }).segment((partial) => partials.push(partial));
  return { engine, segment, partials, clock };
}

test('a pass that runs at the end of a segment is not aborted, which would end the process, and says nothing more', async () => {
  const { engine, segment, partials } = openSegment();
  segment.write(SECOND);
  const pass = await engine.nextCall();

  const final = segment.end(1);
  const last = await engine.nextCall();
  pass.say('hello');
  last.say('hello world');

  assert.equal((await final).text, 'hello world');
  assert.deepEqual([pass.options.signal.aborted, partials], [false, []]);
});

test('a segment that is given up aborts its pass, and begins no other', async () => {
  const { engine, segment, partials } = openSegment();
  segment.write(SECOND);
  const pass = await engine.nextCall();

  segment.close();
  segment.write(SECOND);

  assert.deepEqual([pass.options.signal.aborted, engine.count(), partials], [true, 1, []]);
});

const random = randomFrom(11).next;
/** No pure tone: a second of something that may be speech. */
const NOISE = Int16Array.from({ length: SAMPLE_RATE }, () => 8_000 * (random() - 0.5));
const finding = (startSeconds: number, endSeconds: number): Detector => ({
  find: async () => (endSeconds > startSeconds ? [{ startSeconds, endSeconds }] : []),
});
const refused = () => new EngineError('engine_error', 'refused', { failure: { kind: 'connection' } });

test('audio in which no speech is detected reaches no engine, neither for partial nor for final text', async () => {
  const { engine, segment, partials } = openSegment(finding(0, 0));
  for (let second = 0; second < 3; second++) segment.write(NOISE);

  const final = await segment.end(3);

  assert.deepEqual([final.text, final.untranscribed, engine.count(), partials], ['', [], 0, []]);
});

test('speech for which the engine gives no text is untranscribed', async () => {
  const { segment } = openSegment(finding(0.2, 0.8), '');
  segment.write(NOISE);

  const final = await segment.end(1);

  assert.deepEqual([final.text, final.untranscribed], ['', [{ startSeconds: 0.2, endSeconds: 0.8 }]]);
});

test('a segment that lacks the words that were stable is untranscribed', async () => {
  const { engine, segment, clock, partials } = openSegment(finding(0, 2));
  for (let pass = 0; pass < 2; pass++) {
    segment.write(NOISE);
    (await engine.nextCall()).say('ask not what');
    await turnOfTheLoop();
    await clock.advance(1_000);
  }

  const final = segment.end(2);
  (await engine.nextCall()).say('thank you very much');

  assert.equal(partials.at(-1)?.stableWords, 3);
  assert.deepEqual((await final).untranscribed, [{ startSeconds: 0, endSeconds: 2 }]);
});

test('audio that came during a pass is transcribed though no more comes', async () => {
  const { engine, segment, clock, partials } = openSegment(finding(0, 2));
  segment.write(NOISE);
  const first = await engine.nextCall();
  segment.write(NOISE);
  first.say('ask not');
  await turnOfTheLoop();
  await clock.advance(1_000);

  (await engine.nextCall()).say('ask not what');
  await turnOfTheLoop();

  assert.deepEqual(
    partials.map(({ words }) => words.map(({ text }) => text).join(' ')),
    ['ask not', 'ask not what'],
  );
});

test('a segment waits for an engine that is away, and has its text once the engine is back', async () => {
  const { engine, segment, clock } = openSegment(finding(0, 1));
  segment.write(NOISE.subarray(0, SAMPLE_RATE / 2));
  const final = segment.end(0.5);

  for (let tries = 0; tries < 30; tries++) {
    (await engine.nextCall()).fail(new EngineAwayError(refused()));
    await turnOfTheLoop();
    await clock.advance(1_000);
  }
  (await engine.nextCall()).say('hello');

  assert.equal((await final).text, 'hello');
});

test('where it does not wait, a segment fails while the engine is away', async () => {
  const engine = openFakeEngine();
  const options = { clock: openManualClock(), stepSeconds: 9, sessions: 1, detector: finding(0, 1) };
  const live = agreementEngine(engine, { ...options, whileAway: 'fail' });
  const segment = live.open({ language: 'en' }).segment(() => undefined);
  segment.write(NOISE);

  const final = segment.end(1);
  (await engine.nextCall()).fail(new EngineAwayError(refused()));

  await assert.rejects(final, EngineAwayError);
});

test('an open segment has no pass while the engine is known to be away, and one once it is back', async () => {
  let absence: Absence | null = { sinceMs: 0, cause: refused() };
  const engine = { ...openFakeEngine(), absence: () => absence };
  const clock = openManualClock();
  const live = agreementEngine(engine, { clock, stepSeconds: 1, sessions: 1, detector: null });
  const segment = live.open({ language: 'en' }).segment(() => undefined);

  for (let second = 0; second < 3; second++) segment.write(NOISE);
  await clock.advance(3_000);
  assert.equal(engine.count(), 0);

  // No more audio comes.
  absence = null;
  await clock.advance(1_000);
  assert.equal((await engine.nextCall()).piece.length, 3 * SAMPLE_RATE);
});
