import assert from 'node:assert/strict';
import test from 'node:test';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { SAMPLE_RATE } from '../engine.ts';
import { agreementEngine } from './agreement-engine.ts';
import type { LivePartial } from './live-engine.ts';

const SECOND = Int16Array.from({ length: SAMPLE_RATE }, (_, at) => 8_000 * Math.sin(at / 5));

function openSegment() {
  const engine = openFakeEngine();
  const live = agreementEngine(engine, { clock: openManualClock(), stepSeconds: 1, sessions: 1 });
  const partials: LivePartial[] = [];
  const segment = live.open({ language: 'en' }).segment((partial) => partials.push(partial));
  return { engine, segment, partials };
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
