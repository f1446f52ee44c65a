// A speech server that batches (batching-server.ts): pieces through the service ÷ direct calls, as many at once.
//   npm run bench batching -- [--at-once 128] [--minutes 100] [--files 8] [--speed 842] [--models <folder>]
// `--models` is a folder of models with the voice detector. The audio is the recordings of assets/speech, over and
// over.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { openAsBlob, readFileSync, symlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { type Pcm, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { joinPcm } from '../../src/engines/join-pcm.ts';
import { openOpenai } from '../../src/engines/openai/openai.ts';
import { wavHeader } from '../../src/engines/wav-header.ts';
import { localModels } from '../../src/models/sources/origins.ts';
import { openService, type TestService, temporaryFolder } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round } from '../figures.ts';

const { values } = parseArgs({
  options: {
    'at-once': { type: 'string', default: '128' },
    minutes: { type: 'string', default: '100' },
    files: { type: 'string', default: '8' },
    speed: { type: 'string', default: '842' },
    models: { type: 'string', default: localModels().cache },
  },
});
const AT_ONCE = Number(values['at-once']);
const SECONDS = Number(values.minutes) * 60;
const FILES = Number(values.files);
const HEADER_BYTES = 44;
const POLL_MS = 250;
const FOLDER = path.join(import.meta.dirname, '../../assets/speech');
const NAMES = ['0870', '0880', '0890', '0920', '0930'].map((number) => `librivox-${number}.wav`);

const speech = joinPcm(NAMES.map((name) => samplesOf(path.join(FOLDER, name))));
const server = await startServer();
const direct = await directCalls();
const served = await throughService();
await server.stop();
report(`direct calls, ${AT_ONCE} at once: times real time`, `${round(direct)}`, 'none');
report('one file: service ÷ direct calls', ratio(served.one), '>= 0.95');
report(`${FILES} files: service ÷ direct calls`, ratio(served.several), '>= 0.95');

function ratio(speed: number): string {
  return `${round(speed)} ÷ ${round(direct)} = ${round(speed / direct)}`;
}

/** Audio seconds per second of pieces of 30 s, from a process that does nothing else. */
async function directCalls(): Promise<number> {
  const length = 30 * SAMPLE_RATE;
  const pieces = Array.from({ length: Math.ceil(SECONDS / 30) }, (_, at) => repeated(at * length, length));
  await using engine = openOpenai({ baseUrl: server.baseUrl, model: null, apiKey: null, slots: AT_ONCE });
  const options = { language: null, timeoutMs: 600_000, signal: new AbortController().signal };
  const startedAtMs = performance.now();
  await Promise.all(pieces.map((piece) => engine.transcribe(piece, options)));
  return (pieces.length * 30) / ((performance.now() - startedAtMs) / 1000);
}

/** Audio seconds per second of one file, and of several of the same length in all. */
async function throughService(): Promise<{ one: number; several: number }> {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  symlinkSync(path.resolve(values.models), path.join(dataDir, 'models'));
  const env = {
    ...database.env,
    LOG_LEVEL: 'warn',
    ENGINE_PRO: `openai:${server.baseUrl}`,
    ENGINE_LITE: `openai:${server.baseUrl}`,
    TRANSCRIBE_CONCURRENCY: `${AT_ONCE}`,
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_JOBS: 'off',
    RATE_LIMIT_DEFAULT: 'off',
  };
  await using service = await openService(env, dataDir);
  const { key } = await service.account();
  await transcribeAll(service, key, [30]);
  const one = await transcribeAll(service, key, [SECONDS]);
  const several = await transcribeAll(service, key, Array<number>(FILES).fill(SECONDS / FILES));
  return { one, several };
}

/** From the start of the first job to the end of the last: the uploads are not measured. */
async function transcribeAll({ baseUrl }: TestService, key: string, lengthsSeconds: number[]): Promise<number> {
  const headers = { 'x-api-key': key };
  const ids = await Promise.all(
    lengthsSeconds.map(async (seconds) => {
      const form = new FormData();
      form.append('async', 'true');
      form.append('file', await openAsBlob(await writeAudio(seconds)), 'audio.wav');
      const answer = await fetch(`${baseUrl}/v1/transcribe`, { method: 'POST', headers, body: form });
      if (!answer.ok) throw new Error(`transcribe answered ${answer.status}: ${await answer.text()}`);
      return ((await answer.json()) as { id: string }).id;
    }),
  );
  const jobs = await Promise.all(ids.map((id) => endOf(`${baseUrl}/v1/jobs/${id}`, headers)));
  const startMs = Math.min(...jobs.map(({ started_at }) => Date.parse(started_at)));
  const endMs = Math.max(...jobs.map(({ completed_at }) => Date.parse(completed_at)));
  return lengthsSeconds.reduce((sum, seconds) => sum + seconds, 0) / ((endMs - startMs) / 1000);
}

async function endOf(
  url: string,
  headers: Record<string, string>,
): Promise<{ started_at: string; completed_at: string }> {
  while (true) {
    const job = (await (await fetch(url, { headers })).json()) as {
      status: string;
      started_at: string;
      completed_at: string;
    };
    if (job.status === 'completed') return job;
    if (job.status === 'failed') throw new Error(`${url} failed`);
    await delay(POLL_MS);
  }
}

async function writeAudio(seconds: number): Promise<string> {
  const file = path.join(temporaryFolder(), `${seconds}.wav`);
  await using handle = await open(file, 'w');
  const length = Math.round(seconds * SAMPLE_RATE);
  await handle.write(wavHeader({ length } as Pcm));
  for (let at = 0; at < length; at += speech.length) await handle.write(speech.subarray(0, length - at));
  return file;
}

function repeated(from: number, length: number): Pcm {
  return Int16Array.from({ length }, (_, at) => speech[(from + at) % speech.length]!);
}

function samplesOf(file: string): Pcm {
  const bytes = readFileSync(file).subarray(HEADER_BYTES);
  return new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
}

async function startServer() {
  const child = fork(path.join(import.meta.dirname, 'batching-server.ts'), ['--speed', values.speed]);
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    async stop() {
      child.disconnect();
      await once(child, 'exit');
    },
  };
}
