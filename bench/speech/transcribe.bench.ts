// Audio seconds per second through the service, against the engine alone on the same audio and the same slots.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cutPieces } from '../../src/audio/split.ts';
import { type Engine, type Pcm, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { openEngine } from '../../src/engines/registry/open.ts';
import { openLog } from '../../src/platform/log.ts';
import { fetchModels } from '../../test/fixtures/fetch-models.ts';
import { openService, type TestService, temporaryFolder } from '../../test/fixtures/service.ts';
import { SPEECH_MODEL } from '../../test/fixtures/speech-model.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';

const SLOTS = os.availableParallelism();
const SECONDS = 600;
const FIRST_ROUNDS = 9;
// Polling every 20 ms would use a tenth of both cores.
const POLL_MS = 250;
const sample = wavSamples(readFileSync(new URL('../../assets/speech/librivox-0890.wav', import.meta.url)));
const shortFiles = Array.from({ length: Math.ceil(SECONDS / (sample.length / SAMPLE_RATE)) }, () => sample);
const longFile = repeated(sample, SECONDS * SAMPLE_RATE);

await fetchModels();
const alone = await engineAlone();
const served = await throughService();
report('short files: service ÷ engine alone', ratio(served.short, alone.short), '>= 0.95');
report('one file of 10 minutes: service ÷ engine alone', ratio(served.long, alone.long), '>= 0.95');
report(
  'first result of a short file, ms: service - engine alone',
  `${round(served.firstMs)} - ${round(alone.firstMs)}`,
  '<= 50 more',
);

/** Audio seconds per second with every slot busy, and the ms of one sample on an idle engine (median). */
type Speeds = { short: number; long: number; firstMs: number };

async function engineAlone(): Promise<Speeds> {
  await using engine = await openEngine(
    { kind: 'sherpa-onnx', model: SPEECH_MODEL },
    {
      modelsDir: temporaryFolder(),
      slots: SLOTS,
      threadsPerSlot: 1,
      apiKey: null,
      tools: { folder: process.env['VERBATIM_TOOLS'] ?? null },
      log: openLog('warn'),
    },
  );
  await Promise.all(Array.from({ length: SLOTS }, () => engine.warmUp()));
  const firstMs = await medianMs(() => decodeAll(engine, [sample]));
  const short = SECONDS / ((await timeMs(() => decodeAll(engine, shortFiles))) / 1000);
  const pieces: Pcm[] = [];
  for await (const piece of cutPieces(onceOf(longFile))) pieces.push(piece.samples);
  const long = SECONDS / ((await timeMs(() => decodeAll(engine, pieces))) / 1000);
  return { short, long, firstMs };
}

async function decodeAll(engine: Engine, pieces: Pcm[]): Promise<void> {
  const signal = new AbortController().signal;
  await Promise.all(pieces.map((piece) => engine.transcribe(piece, { language: null, timeoutMs: 3_600_000, signal })));
}

async function throughService(): Promise<Speeds> {
  await using database = await startServiceDatabase();
  await using service = await openService({
    ...database.env,
    LOG_LEVEL: 'warn',
    ENGINE_PRO: `sherpa-onnx:${SPEECH_MODEL}`,
    ENGINE_LITE: `sherpa-onnx:${SPEECH_MODEL}`,
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_DEFAULT: 'off',
    RATE_LIMIT_JOBS: 'off',
    MAX_UPLOADS_PER_ACCOUNT: '1000',
  });
  const { key } = await service.account();
  await post(service, key, sample, false);
  const firstMs = await medianMs(() => post(service, key, sample, false));
  const short = SECONDS / ((await timeMs(() => transcribeAll(service, key, shortFiles))) / 1000);
  const long = SECONDS / ((await timeMs(() => transcribeAll(service, key, [longFile]))) / 1000);
  return { short, long, firstMs };
}

async function transcribeAll(service: TestService, key: string, files: Pcm[]): Promise<void> {
  const ids = await Promise.all(files.map((file) => post(service, key, file, true)));
  for (const id of ids) await untilEnded(service, key, id);
}

async function post(service: TestService, key: string, samples: Pcm, isAsync: boolean): Promise<string> {
  const form = new FormData();
  form.append('async', String(isAsync));
  form.append('file', new Blob([wavFile(samples)]), 'audio.wav');
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const job = (await answer.json()) as { id: string };
  if (!answer.ok) throw new Error(`transcribe answered ${answer.status}: ${JSON.stringify(job)}`);
  return job.id;
}

async function untilEnded(service: TestService, key: string, id: string): Promise<void> {
  while (true) {
    const answer = await fetch(`${service.baseUrl}/v1/jobs/${id}`, { headers: { 'x-api-key': key } });
    const { status } = (await answer.json()) as { status: string };
    if (status === 'completed') return;
    if (status === 'failed') throw new Error(`${id} failed`);
    await delay(POLL_MS);
  }
}

async function timeMs(work: () => Promise<unknown>): Promise<number> {
  const startedAtMs = performance.now();
  await work();
  return performance.now() - startedAtMs;
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < FIRST_ROUNDS; round++) times.push(await timeMs(work));
  return spread(times).p50;
}

function ratio(mine: number, theirs: number): string {
  return `${round(mine)} ÷ ${round(theirs)} = ${round(mine / theirs)}`;
}

async function* onceOf(samples: Pcm): AsyncGenerator<Pcm> {
  for (let at = 0; at < samples.length; at += SAMPLE_RATE) yield samples.slice(at, at + SAMPLE_RATE);
}

function repeated(samples: Pcm, length: number): Pcm {
  return Int16Array.from({ length }, (_, at) => samples[at % samples.length]!);
}

/** The samples of a 16 kHz mono 16-bit WAV with the plain 44-byte header. */
function wavSamples(file: Buffer): Pcm {
  const bytes = file.subarray(44);
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
}

function wavFile(samples: Pcm): Buffer<ArrayBuffer> {
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const header = Buffer.from(
    readFileSync(path.join(import.meta.dirname, '../../assets/speech/librivox-0890.wav')).subarray(0, 44),
  );
  header.writeUInt32LE(36 + bytes.length, 4);
  header.writeUInt32LE(bytes.length, 40);
  return Buffer.concat([header, bytes]) as Buffer<ArrayBuffer>;
}
