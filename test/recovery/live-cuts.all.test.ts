import assert from 'node:assert/strict';
import test from 'node:test';
import { speak, speechOf } from '../faults/live-sessions.ts';
import { STREAMING_TONE_MODEL, TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { randomFrom } from '../fixtures/random.ts';
import { type MessageCut, openMessageCutter } from '../fixtures/servers/message-cutter.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const SEED = 29;
const AT_ONCE = 8;
// Acknowledgements come four times a second: a client without any for so long connects again.
const SILENCE_MS = 1_500;

for (const how of ['FIN', 'RST', 'silence'] as const) {
  test(`a session that is cut after any of its messages, by ${how}, gives the text of one that is not cut`, async (t) => {
    await using service = await openService({
      ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
      ENGINE_LIVE_PRO: `sherpa-onnx:${STREAMING_TONE_MODEL}`,
      RATE_LIMIT_LIVE: 'off',
    });
    const { key } = await service.account();
    const whole = await speakThrough(service, key, null);
    const cuts = (['up', 'down'] as const).flatMap((direction) =>
      Array.from({ length: whole.messages[direction] }, (_, after): MessageCut => ({ direction, after, how })),
    );

    t.diagnostic(JSON.stringify(whole.messages));
    const results: string[] = [];
    let resumed = 0;
    const waiting = cuts[Symbol.iterator]();
    const work = async () => {
      for (const cut of waiting) {
        const { job, segments, violations, connections } = await speakThrough(service, key, cut);
        const at = `${cut.direction} ${cut.after}`;
        results.push(...violations.map((violation) => `${at}: ${violation}`));
        if (job.text !== whole.job.text) results.push(`${at}: ${job.text}`);
        if (job.cost !== whole.job.cost) results.push(`${at}: cost ${job.cost}`);
        assert.deepEqual(segments, whole.segments.slice(0, segments.length), at);
        if (connections > 1) resumed += 1;
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));

    assert.deepEqual(results, []);
    assert.match(whole.job.text, /\w+ \w+/);
    assert.ok(resumed > cuts.length / 2, `${resumed} of ${cuts.length} sessions were resumed`);
  });
}

async function speakThrough(service: TestService, key: string, cut: MessageCut | null) {
  await using cutter = await openMessageCutter(service.baseUrl, cut);
  const audio = speechOf(2, randomFrom(SEED));
  const order = { key, plan: 'pro', audio, random: randomFrom(SEED), silenceMs: SILENCE_MS } as const;
  return { ...(await speak(() => cutter.url, order)), messages: { ...cutter.messages } };
}
