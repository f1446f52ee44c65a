import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { machineTimeout } from '../fixtures/machine-time.ts';
import { openService, type TestService, temporaryFolder } from '../fixtures/service.ts';

// A Python with foreign clients of OpenAI's Realtime API, each of which may be missing: `.ci/run` makes it.
const python = process.env['REALTIME_CLIENTS'];
const PROGRAMS = path.join(import.meta.dirname, 'programs');
const CLIENTS = { openai: 'openai', 'livekit-plugins-openai': 'livekit', 'pipecat-ai': 'pipecat' };
// What they send without being asked.
const RATE = 24_000;
const MOST_MS = 90_000;

const audio = path.join(temporaryFolder(), 'speech.pcm');
let service: TestService;
before(async () => {
  if (!python) return;
  writeFileSync(audio, Buffer.concat([utterance('hello world'), utterance('good night')]));
  service = await openService({ ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` });
});
after(() => service?.[Symbol.asyncDispose]());

/** 24 kHz, 16 bits; as much silence as speech. */
function utterance(text: string): Buffer {
  const speech = toneSpeech(text);
  const samples = Int16Array.from({ length: Math.round((2 * speech.length * RATE) / 16_000) }, (_, at) => {
    const place = (at * 16_000) / RATE;
    const [before, behind] = [speech[Math.floor(place)] ?? 0, speech[Math.floor(place) + 1] ?? 0];
    return before + (behind - before) * (place % 1);
  });
  return Buffer.from(samples.buffer);
}

for (const [name, module] of Object.entries(CLIENTS)) {
  const isMissing = !python || !existsSync(python) ? 'no Python with it' : false;
  for (const turns of ['client', 'server']) {
    test(`${name} gets the text of each turn that the ${turns} ends`, { skip: isMissing }, async () => {
      const { key } = await service.account();
      const program = path.join(PROGRAMS, `${module}_client.py`);

      using limit = machineTimeout(MOST_MS);
      const args = [program, service.baseUrl, key, audio, turns];
      const { stdout } = await promisify(execFile)(python!, args, limit);

      assert.deepEqual(JSON.parse(stdout.trim().split('\n').at(-1)!), ['hello world', 'good night']);
    });
  }
}
