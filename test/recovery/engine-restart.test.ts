import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { toneSpeech } from '../fixtures/audio/tone/speech.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { openService, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

test('a killed engine process is started again and counted, and the service stays ready', async () => {
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  await using service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine, TRANSCRIBE_CONCURRENCY: '1' });
  const engines = () =>
    descendantsOf(service.pid).filter(({ arguments: args }) => args.some((arg) => /sherpa-child\.js$/.test(arg)));
  const [victim] = engines();

  process.kill(victim!.pid, 'SIGKILL');
  const successor = await until('another engine process', () => engines().find(({ pid }) => pid !== victim!.pid));

  assert.notEqual(successor.pid, victim!.pid);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();
  assert.match(metrics, /^verbatim_engine_restarts_total\{engine="tone"\} 1$/m);
  assert.equal((await fetch(`${service.baseUrl}/readyz`)).status, 200);
});

test('a damaged file of the voice detector is logged, and jobs succeed without the detector', async () => {
  const engine = `sherpa-onnx:${TONE_MODEL}`;
  const dataDir = temporaryFolder();
  const folder = path.join(dataDir, 'models', 'silero-vad');
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'silero_vad.onnx'), 'half a download');
  await using service = await openService({ ENGINE_LITE: engine, ENGINE_PRO: engine }, dataDir);
  const { key } = await service.account();
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(wavOf(toneSpeech('still heard')))]), 'a.wav');

  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });

  assert.equal(((await answer.json()) as { text: string }).text, 'still heard');
  assert.equal(service.logText().match(/voice detector not used/g)?.length, 1);
});
