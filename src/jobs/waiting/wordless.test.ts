import assert from 'node:assert/strict';
import test from 'node:test';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { until } from '../../../test/fixtures/until.ts';
import { type Engine, EngineError, SAMPLE_RATE } from '../../engines/engine.ts';
import { EnginePresence } from '../../engines/presence/engine-presence.ts';
import type { VoiceDetector } from '../../engines/vad/vad.ts';
import { systemClock } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';

const SAYS = 'well done, all of you, my dear friends';

/** Takes all audio for speech. */
const DETECTOR: VoiceDetector = {
  find: async (audio) => [{ startSeconds: 0, endSeconds: audio.length / SAMPLE_RATE }],
  async [Symbol.asyncDispose]() {},
};

function noise(seconds: number): Buffer {
  const { next } = randomFrom(5);
  return wavOf(Int16Array.from({ length: seconds * SAMPLE_RATE }, () => (next() - 0.5) * 8_000));
}

/** An engine that gives this text for all audio, and whose probe passes when it is to. */
function openSaying(says: string, { passes = false } = {}) {
  const state = { says, passes, probes: 0 };
  const engine: Engine = {
    ...openFakeEngine(),
    transcribe: (piece, options) => openFakeEngine({ says: state.says }).transcribe(piece, options),
  };
  const stopping = new AbortController();
  const presence = new EnginePresence(engine, {
    clock: systemClock,
    log: openLog('silent'),
    async probe() {
      state.probes += 1;
      if (!state.passes) throw new EngineError('engine_error', 'No words.', { failure: { kind: 'words' } });
    },
  });
  const watching = presence.watch(stopping.signal);
  return {
    presence,
    state,
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await watching;
    },
  };
}

for (const says of ['', '.']) {
  test(`a job waits while the engine says ${JSON.stringify(says)} to any speech, then has the text of all pieces`, async () => {
    await using fixture = await openJobFixture();
    await using engine = openSaying(says);
    const account = await fixture.account({ credits: 10 });
    await fixture.startWorker(engine.presence, { detector: DETECTOR });

    const { id } = (await fixture.transcribe(account, noise(70), { async: 'true' })).json;
    await until('the engine to be away', () => engine.presence.absence() !== null);
    await until('the job to be back', async () => (await fixture.job(account, id)).status === 'queued');
    Object.assign(engine.state, { says: SAYS, passes: true });
    const job = await fixture.ended(account, id);

    assert.deepEqual([job.status, job.warnings], ['completed', []]);
    assert.ok(job.segments[0].start < 1 && job.segments.at(-1).end > 69, JSON.stringify(job.segments));
  });
}

test('speech that an engine does not know leaves it at work while it gives words to the probe', async () => {
  await using fixture = await openJobFixture();
  await using engine = openSaying('', { passes: true });
  const account = await fixture.account({ credits: 10 });
  await fixture.startWorker(engine.presence, { detector: DETECTOR });

  const jobs = [];
  for (let sent = 0; sent < 5; sent += 1) jobs.push((await fixture.transcribe(account, noise(1))).json);

  for (const { status, text, cost, warnings } of jobs) {
    assert.deepEqual([status, text, cost], ['completed', '', 0]);
    assert.deepEqual(
      warnings.map(({ code }: { code: string }) => code),
      ['untranscribed'],
    );
  }
  assert.deepEqual([engine.state.probes > 0, engine.presence.absence()], [true, null]);
});
