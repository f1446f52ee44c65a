import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import { longSpeech } from '../fixtures/audio/long-speech.ts';
import { silenceWav, stereoWav, TONE_MODEL } from '../fixtures/audio/test-audio.ts';
import { wavOf } from '../fixtures/audio/wav.ts';
import { readEvents, type StreamEvent } from '../fixtures/event-stream.ts';
import { machineTime } from '../fixtures/machine-time.ts';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { randomFrom } from '../fixtures/random.ts';
import { openService, type TestService } from '../fixtures/service.ts';

const ENGINES = { ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`, ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}` };
const HOUR_SECONDS = 3_600;
// The model tells when a sign was said in steps of 40 ms.
const MAX_TIME_ERROR_SECONDS = 0.1;
// Measured: transcriber 190 MB, http 200 MB. An engine climbs to 240 to 330 MB within 80 pieces, while what native code
// holds waits for the collector, and stays there: 360 pieces, two and a half hours of audio, ended at 286 MB.
const MAX_PROCESS_MB = { transcriber: 300, http: 300, engine: 450 };

type Word = { start: number; end: number; text: string };

async function send(service: TestService, key: string, wav: Uint8Array, fields: Record<string, string>) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('file', new Blob([wav as Uint8Array<ArrayBuffer>]), 'long.wav');
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return (await answer.json()) as any;
}

async function follow(service: TestService, key: string, id: string) {
  const answer = await fetch(`${service.baseUrl}/v1/jobs/${id}/events`, { headers: { 'x-api-key': key } });
  assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
  return readEvents(answer.body!);
}

async function read(service: TestService, key: string, route: string) {
  const answer = await fetch(service.baseUrl + route, { headers: { 'x-api-key': key } });
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return (await answer.json()) as any;
}

/**
 * The processes of one part of the service, with the most memory that each ever held and the processor time it used.
 */
function usageOf(service: TestService, part: RegExp) {
  return descendantsOf(service.pid)
    .filter((entry) => part.test(entry.arguments.join(' ')))
    .map(({ pid }) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const times = readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ');
      return { peakMb: Number(/VmHWM:\s+(\d+)/.exec(status)![1]) / 1024, ticks: Number(times[11]) + Number(times[12]) };
    });
}

test('an hour of audio comes back to the letter, with right times, in bounded memory, followed as it goes', async (t) => {
  await using service = await openService({ ...ENGINES, TRANSCRIBE_CONCURRENCY: '2' });
  const { key } = await service.account();
  const { pcm, words } = longSpeech(HOUR_SECONDS, randomFrom(3600));

  const { id } = await send(service, key, wavOf(pcm), { async: 'true', timestamps: 'word' });
  const events: StreamEvent[] = await Array.fromAsync(await follow(service, key, id));
  const job = await read(service, key, `/v1/jobs/${id}`);

  assert.equal(job.status, 'completed');
  // Not by `equal`, whose account of two long texts fills the screen.
  assert.ok(job.text === words.map(({ text }) => text).join(' '), 'the text is not what was said');
  const heard = job.segments.flatMap((segment: { words: Word[] }) => segment.words) as Word[];
  const wrong = words.filter(
    ({ text, startSeconds, endSeconds }, index) =>
      heard[index]!.text !== text ||
      Math.abs(heard[index]!.start - startSeconds) > MAX_TIME_ERROR_SECONDS ||
      Math.abs(heard[index]!.end - endSeconds) > MAX_TIME_ERROR_SECONDS,
  );
  assert.deepEqual(wrong.slice(0, 5), []);
  assert.equal(heard.length, words.length);

  const shown = events.filter(({ event }) => event === 'segment').map(({ data: { index: _, ...segment } }) => segment);
  assert.deepEqual(shown, job.segments);
  const progress = events.filter(({ event }) => event === 'progress').map(({ data }) => data.progress);
  assert.ok(progress.length > 50, `${progress.length} words on progress`);
  assert.deepEqual(progress, progress.toSorted());
  assert.equal(events.at(-1)?.data.status, 'completed');

  const engines = usageOf(service, /sherpa-child/);
  const [transcriber] = usageOf(service, /process\.js transcriber/);
  const [http] = usageOf(service, /process\.js http/);
  t.diagnostic(
    `peak MB: transcriber ${transcriber!.peakMb | 0}, http ${http!.peakMb | 0}, engines ${engines.map(({ peakMb }) => peakMb | 0)}`,
  );
  t.diagnostic(`ran ${(Date.parse(job.completed_at) - Date.parse(job.started_at)) / 1000} s`);
  assert.ok(transcriber!.peakMb < MAX_PROCESS_MB.transcriber && http!.peakMb < MAX_PROCESS_MB.http);
  assert.ok(engines.every(({ peakMb }) => peakMb < MAX_PROCESS_MB.engine));
  const ticks = engines.map((engine) => engine.ticks).sort((a, b) => a - b);
  assert.equal(engines.length, 2);
  assert.ok(ticks[0]! > ticks[1]! / 2, `one slot did most of the work: ${ticks}`);
});

test('silence gives empty text, however long; a stop ends the streams of those who follow', async () => {
  await using service = await openService(ENGINES);
  const { key } = await service.account();

  const silent = await send(service, key, silenceWav(120), {});

  assert.deepEqual(
    [silent.status, silent.text, silent.segments, silent.audio.duration_seconds],
    ['completed', '', [], 120],
  );

  const { pcm } = longSpeech(HOUR_SECONDS / 6, randomFrom(7));
  const { id } = await send(service, key, stereoWav(pcm), { async: 'true' });
  const events = await follow(service, key, id);
  await events.next();
  const elapsedMs = machineTime();
  const [rest] = await Promise.all([Array.fromAsync(events), service.stop()]);
  const stopMs = elapsedMs();

  assert.ok(rest.every(({ data }) => data.status !== 'completed'));
  assert.deepEqual([service.exitCode(), stopMs < 10_000], [0, true]);
});
