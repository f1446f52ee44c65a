import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { UNLIMITED_MEMORY } from '../../http/route.ts';
import { writeJson } from '../../platform/json.ts';
import { jobRoutes } from '../api/routes.ts';
import { editRoutes } from './routes.ts';

// Two hours of eight channels, in segments of six seconds and fifteen words.
const CHANNELS = 8;
const SECONDS = 2 * 3_600;
const SEGMENT_SECONDS = 6;
const WORDS = 'the quick brown fox jumps over one lazy dog while everybody keeps talking about it'.split(' ');
const MAX_TURN_MS = 100;

function longSegments() {
  return Array.from({ length: (SECONDS / SEGMENT_SECONDS) * CHANNELS }, (_, index) => {
    const [start, channel] = [Math.floor(index / CHANNELS) * SEGMENT_SECONDS, index % CHANNELS];
    const words = WORDS.map((text, at) => {
      const begin = start + at * 0.4;
      return { channel, start: begin, end: begin + 0.3, text, confidence: 0.912, speaker: `ch${channel}_A` };
    });
    const text = WORDS.join(' ');
    return { channel, start, end: start + SEGMENT_SECONDS, text, confidence: 0.9, speaker: `ch${channel}_A`, words };
  });
}

/** Measures the turns of the event loop in CPU time, which other processes of the machine do not change. */
function measureTurns() {
  const cpuMs = () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let [last, longest, isOn] = [cpuMs(), 0, true];
  const look = () => {
    const now = cpuMs();
    [longest, last] = [Math.max(longest, now - last), now];
  };
  const follow = () => {
    look();
    if (isOn) setImmediate(follow);
  };
  follow();
  return {
    longestMs() {
      look();
      return longest;
    },
    [Symbol.dispose]() {
      isOn = false;
    },
  };
}

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hi' }));
  const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
  await fixture.ended(account, id);
  await fixture.db.run({
    text: 'update jobs set segments = $1, duration_ms = $2 where id = $3',
    values: [JSON.stringify(longSegments()), SECONDS * 1_000, id],
  });
  const { signal } = new AbortController();
  // Without the checks of answers in other tests, which take long.
  const routes = [...jobRoutes(fixture), ...editRoutes(fixture)];
  const route = (method: string) =>
    routes.find((one) => one.method === method && one.path === '/v1/jobs/:id/transcript')!;
  return {
    fixture,
    async call(method: string, more: object) {
      const call = {
        account,
        params: { id },
        query: {},
        note: () => undefined,
        memory: UNLIMITED_MEMORY,
        signal,
        ...more,
      };
      using turns = measureTurns();
      const { body, stream } = (await route(method).handle(call as never)) as { body?: unknown; stream?: Readable };
      const text = stream
        ? (await buffer(stream)).toString('latin1')
        : typeof body === 'string'
          ? body
          : writeJson(body);
      return { text, longestMs: turns.longestMs() };
    },
    /** Follows the events of the job, which has ended. */
    async follow() {
      using turns = measureTurns();
      let count = 0;
      for await (const { event } of fixture.watch(account, id)) {
        count += event === 'segment' ? 1 : 0;
        // As a socket that takes a part at a time.
        await nextTurn();
      }
      return { count, longestMs: turns.longestMs() };
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('edits, captions, documents and events of a transcript with 135,000 words do not keep the process from answering', async () => {
  await using environment = await openEnvironment();
  const { call } = environment;

  const edited = await call('PATCH', {
    body: { segments: [{ index: 3, text: 'edited' }], speakers: { ch0_A: 'Anna' } },
  });
  const shown = await call('GET', { query: {} });
  const shaped = await call('GET', { query: { format: 'srt', max_lines: 2 } });

  const [page, docx] = [
    await call('GET', { query: { format: 'md' } }),
    await call('GET', { query: { format: 'docx' } }),
  ];
  const pdf = await call('GET', { query: { format: 'pdf' } });
  const followed = await environment.follow();

  const turns = [edited, shown, shaped, page, docx, pdf, followed].map(({ longestMs }) => Math.round(longestMs));
  assert.ok(Math.max(...turns) < MAX_TURN_MS, `turns of ${turns.join(', ')} ms`);
  for (const { text } of [edited, shown]) {
    const { version, segments } = JSON.parse(text);
    assert.deepEqual(
      [version, segments[3].text, segments[3].words, segments[0].speaker],
      ['edited', 'edited', [], 'Anna'],
    );
    assert.equal(segments.length, (SECONDS / SEGMENT_SECONDS) * CHANNELS);
  }
  assert.equal(followed.count, (SECONDS / SEGMENT_SECONDS) * CHANNELS);
  assert.match(shaped.text, /^1\n00:00:00,000 --> /);
  assert.match(page.text, /^# a\.wav\n/);
  assert.deepEqual([docx.text.slice(0, 2), pdf.text.slice(0, 5)], ['PK', '%PDF-']);
});
