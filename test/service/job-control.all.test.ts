import assert from 'node:assert/strict';
import { copyFile, mkdir, truncate } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { audioFilesIn } from '../fixtures/audio/audio-files.ts';
import { longSpeech } from '../fixtures/audio/long-speech.ts';
import { openTestFolder, stereoWav, TONE_MODEL, toneWav } from '../fixtures/audio/test-audio.ts';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { descendantsOf, isAlive } from '../fixtures/processes/process-list.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const TONE_ENGINES = {
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
  AUDIO_RETENTION_HOURS: '0',
};
// Long enough not to end before the test has done what it does.
const LONG = stereoWav(longSpeech(1_800, randomFrom(5)).pcm);

async function call(service: TestService, key: string, method: string, route: string, body?: FormData) {
  const answer = await fetch(service.baseUrl + route, {
    method,
    headers: { 'x-api-key': key },
    ...(body && { body }),
  });
  const text = await answer.text();
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: answer.status, json: (text === '' ? null : JSON.parse(text)) as any };
}

async function send(service: TestService, key: string, wav: Buffer, fields: Record<string, string> = {}) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([new Uint8Array(wav)]), 'a.wav');
  return (await call(service, key, 'POST', '/v1/transcribe', form)).json;
}

const pidsOf = (service: TestService, part: RegExp) =>
  descendantsOf(service.pid)
    .filter((entry) => part.test(entry.arguments.join(' ')))
    .map(({ pid }) => pid);

test('a cancel ends the work on every process, gives back what was not transcribed, and the next job is served', async () => {
  await using service = await openService({ ...TONE_ENGINES, TRANSCRIBE_CONCURRENCY: '2' });
  const { key } = await service.account({ credits: 100 });
  const { id } = await send(service, key, LONG, { async: 'true' });
  await until('the first pieces', async () => (await call(service, key, 'GET', `/v1/jobs/${id}`)).json.progress > 0);
  const working = pidsOf(service, /sherpa-child/);

  const canceled = await call(service, key, 'POST', `/v1/jobs/${id}/cancel`);
  await until('the work to end', () => working.some((pid) => !isAlive(pid)) && pidsOf(service, /ffmpeg/).length === 0);
  const next = await send(service, key, toneWav('go on'));
  const balance = (await call(service, key, 'GET', '/v1/balance')).json;
  const erased = await call(service, key, 'DELETE', `/v1/jobs/${id}`);
  const metrics = await (await fetch(`${service.baseUrl}/metrics`)).text();

  assert.match(metrics, /^verbatim_jobs_total\{outcome="canceled",error_type="",plan="pro"\} 1$/m);
  assert.deepEqual([canceled.status, canceled.json.status], [200, 'canceled']);
  assert.equal(next.text, 'go on');
  assert.equal(balance.held, 0);
  assert.ok(Math.abs(balance.amount + canceled.json.cost + next.cost - 100) < 1e-5, JSON.stringify(balance));
  assert.deepEqual([erased.status, (await call(service, key, 'GET', `/v1/jobs/${id}`)).status], [204, 404]);
  await until('the audio to be gone', () => audioFilesIn(path.join(service.dataDir, 'audio')).length === 0);
});

test('a job that takes its transcriber down three times fails, and the next one is served', async () => {
  await using db = await openTestDatabase();
  await using service = await openService({ ...TONE_ENGINES, DATABASE_URL: db.url });
  const { key } = await service.account();
  const { id } = await send(service, key, LONG, { async: 'true' });

  for (let attempt = 1; attempt <= 3; attempt++) {
    await until('the job to be under way', async () => {
      const [job] = await db.rows<{ attempts: number; progress: number }>({
        text: 'select attempts, progress from jobs',
      });
      return job!.attempts === attempt && pidsOf(service, /ffmpeg/).length > 0;
    });
    const [transcriber] = pidsOf(service, /process\.js transcriber/);
    process.kill(transcriber!, 'SIGKILL');
    await until('the transcriber to be back', () => {
      const [fresh] = pidsOf(service, /process\.js transcriber/);
      return fresh !== undefined && fresh !== transcriber;
    });
    // As if its lease had run out.
    await db.run({ text: `update jobs set next_at = clock_timestamp() where state = 'processing'` });
  }
  const job = await until('the end', async () => {
    const { json } = await call(service, key, 'GET', `/v1/jobs/${id}`);
    return json.completed_at !== null && json;
  });

  assert.deepEqual([job.status, job.error.type], ['failed', 'engine_error']);
  assert.equal((await send(service, key, toneWav('still here'))).text, 'still here');
});

test('a model that breaks on the disk fails no job: they wait, and are served once it is mended', async () => {
  await using folder = await openTestFolder();
  const model = path.join(folder.path, 'tone-copy');
  await mkdir(model);
  const put = (name: string) => copyFile(path.join(TONE_MODEL, name), path.join(model, name));
  await Promise.all([put('tone.onnx'), put('tokens.txt')]);
  const engines = { ENGINE_LITE: `sherpa-onnx:${model}`, ENGINE_PRO: `sherpa-onnx:${model}` };
  await using service = await openService({ ...engines, TRANSCRIBE_CONCURRENCY: '1' });
  const { key } = await service.account();

  await truncate(path.join(model, 'tone.onnx'), 5_000);
  for (const pid of pidsOf(service, /sherpa-child/)) process.kill(pid, 'SIGKILL');
  const { id } = await send(service, key, toneWav('mended'), { async: 'true' });
  const jobOf = async () => (await call(service, key, 'GET', `/v1/jobs/${id}`)).json;
  const waiting = await until('the job to wait', async () => {
    const job = await jobOf();
    return job.waiting_for === 'engine' && job;
  });
  const { json: ready } = await call(service, key, 'GET', '/readyz');
  await put('tone.onnx');
  const ended = await until(
    'the end of the job',
    async () => {
      const job = await jobOf();
      return job.completed_at !== null && job;
    },
    60_000,
  );

  assert.equal(waiting.status, 'queued');
  assert.match(JSON.stringify(ready), /tone-copy/);
  assert.deepEqual([ended.status, ended.text], ['completed', 'mended']);
});
