// What an hour of audio costs: processor time of each process of the service for one long file and for clips, one after
// the other, and the share of it that is the model's:
//   npm run bench price -- [folder of audio] [--clips 60] [--pairs 1] [--against <checkout>] [--peer <url>,<pid>]
// `--against` measures the build of another checkout, with its npm packages, in turn with this one. `--peer` is a
// server with OpenAI's endpoint and its process id: both get the clips with 1, 4 and 8 at once, in turn.
// Moonshine tiny and the voice detector are fetched into the user's cache.
import { execFileSync } from 'node:child_process';
import { readdirSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { SAMPLE_RATE } from '../../src/engines/engine.ts';
import { wavHeaderOf } from '../../src/engines/wav-header.ts';
import { findProgram } from '../../src/platform/tools.ts';
import { fetchModels } from '../../test/fixtures/fetch-models.ts';
import * as ownFixture from '../../test/fixtures/service.ts';
import { SPEECH_MODEL } from '../../test/fixtures/speech-model.ts';
import { round, spread } from '../figures.ts';
import { processorUs, processorUsOfFamily } from '../processor-time.ts';
import { serviceProcesses } from '../service-processes.ts';

const LONG_SECONDS = 600;
const CLIP_SECONDS = 3;
const BYTES_PER_SECOND = SAMPLE_RATE * 2;
const AT_ONCE = [1, 4, 8];
const KINDS = ['model', 'voice detector', 'transcriber', 'http', 'PostgreSQL', 'others'] as const;

type Seconds = Record<(typeof KINDS)[number] | 'all', number>;
type Build = { name: string; service: ownFixture.TestService; key: string };
/** Transcribes a WAV file. */
type Send = (wav: Buffer<ArrayBuffer>) => Promise<unknown>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    clips: { type: 'string', default: '60' },
    pairs: { type: 'string', default: '1' },
    against: { type: 'string' },
    peer: { type: 'string' },
  },
});
const speech = decode(path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../../assets/speech')));
const long = wavOf(0, LONG_SECONDS);
const clips = Array.from({ length: Number(values.clips) }, (_, at) => wavOf(at * CLIP_SECONDS, CLIP_SECONDS));
const models = await fetchModels();
const builds = [await openBuild('this build', ownFixture)];
if (values.against) {
  const fixture = await import(path.resolve(values.against, 'test/fixtures/service.ts'));
  builds.push(await openBuild(values.against, fixture));
}
console.log(`${os.availableParallelism()} cores, load ${os.loadavg().map(round).join(' ')}; processor time in s`);
const works: [name: string, files: Buffer<ArrayBuffer>[]][] = [
  [`one file of ${LONG_SECONDS} s`, [long]],
  [`${clips.length} clips of ${CLIP_SECONDS} s, one after the other`, clips],
];
for (const [name, files] of works) await comparePrices(name, files);
if (values.peer) await comparePeer(values.peer);
for (const { service } of builds) await service[Symbol.asyncDispose]();

async function comparePrices(work: string, files: Buffer<ArrayBuffer>[]): Promise<void> {
  console.log(`\n| ${work} | ${KINDS.join(' | ')} | all | model ÷ all |\n|${'---|'.repeat(KINDS.length + 3)}`);
  const measured: Seconds[][] = builds.map(() => []);
  for (let pair = 0; pair < Number(values.pairs); pair++) {
    for (const [at, build] of builds.entries()) {
      const seconds = await priceOf(build, files);
      measured[at]!.push(seconds);
      printRow(build.name, seconds);
    }
  }
  if (builds.length < 2) return;
  const ratios = measured[0]!.map((own, pair) => measured[1]![pair]!.all / own.all);
  const { p50, min, max } = spread(ratios);
  console.log(`audio per processor second, this build ÷ the other: median ${p50} (${min} to ${max})`);
}

async function priceOf(build: Build, files: Buffer<ArrayBuffer>[]): Promise<Seconds> {
  const send = toService(build);
  const before = timesByKind(build.service.pid);
  for (const file of files) await send(file);
  const after = timesByKind(build.service.pid);
  const parts = KINDS.map((kind) => [kind, ((after.get(kind) ?? 0) - (before.get(kind) ?? 0)) / 1e6] as const);
  return { ...(Object.fromEntries(parts) as Seconds), all: parts.reduce((sum, [, seconds]) => sum + seconds, 0) };
}

function timesByKind(pid: number): Map<string, number> {
  const times = new Map<string, number>();
  for (const { pid: one, kind } of serviceProcesses(pid)) {
    const name = KINDS.find((known) => known === kind) ?? 'others';
    times.set(name, (times.get(name) ?? 0) + processorUs(one));
  }
  return times;
}

function printRow(name: string, seconds: Seconds): void {
  const cells = [...KINDS, 'all' as const].map((kind) => seconds[kind].toFixed(2));
  console.log(`| ${name} | ${cells.join(' | ')} | ${(seconds.model / seconds.all).toFixed(2)} |`);
}

async function comparePeer(peer: string): Promise<void> {
  const [url, pid] = peer.split(',') as [string, string];
  const [build] = builds as [Build];
  const sides: [name: string, send: Send, usedUs: () => number][] = [
    ['this build', toOpenAi(`${build.service.baseUrl}/v1`, build.key), () => sumOfTimes(build.service.pid)],
    ['peer', toOpenAi(url, 'unused'), () => processorUsOfFamily(Number(pid))],
  ];
  const audioSeconds = clips.length * CLIP_SECONDS;
  for (const [, send] of sides) await send(clips[0]!);
  for (const atOnce of AT_ONCE) {
    const speeds: number[] = [];
    for (const [name, send, usedUs] of sides) {
      const before = usedUs();
      const { seconds, eachMs } = await sendAll(send, atOnce);
      const perSecond = audioSeconds / ((usedUs() - before) / 1e6);
      speeds.push(audioSeconds / seconds);
      const figures = `${round(audioSeconds / seconds)} × real time, p50 ${spread(eachMs).p50} ms`;
      console.log(`${atOnce} at once, ${name}: ${figures}, ${round(perSecond)} s of audio per processor second`);
    }
    console.log(`${atOnce} at once: ${round(speeds[0]! / speeds[1]!)} times as fast`);
  }
}

async function sendAll(send: Send, atOnce: number): Promise<{ seconds: number; eachMs: number[] }> {
  const waiting = clips.values();
  const eachMs: number[] = [];
  const startedAtMs = performance.now();
  const goOn = async () => {
    for (const clip of waiting) {
      const sentAtMs = performance.now();
      await send(clip);
      eachMs.push(performance.now() - sentAtMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, goOn));
  return { seconds: (performance.now() - startedAtMs) / 1000, eachMs };
}

function sumOfTimes(pid: number): number {
  return timesByKind(pid)
    .values()
    .reduce((sum, us) => sum + us, 0);
}

/** A service with Moonshine tiny and the voice detector, warm. */
async function openBuild(name: string, fixture: typeof ownFixture): Promise<Build> {
  const dataDir = fixture.temporaryFolder();
  symlinkSync(models, path.join(dataDir, 'models'));
  const engine = `sherpa-onnx:${SPEECH_MODEL}`;
  const limits = { RATE_LIMIT_TRANSCRIBE: 'off', RATE_LIMIT_DEFAULT: 'off', RATE_LIMIT_JOBS: 'off' };
  const env = { LOG_LEVEL: 'warn', ENGINE_PRO: engine, ENGINE_LITE: engine, ...limits };
  const service = await fixture.openService(env, dataDir);
  const { key } = await service.account();
  const build = { name, service, key };
  for (const clip of clips.slice(0, os.availableParallelism() * 2)) await toService(build)(clip);
  return build;
}

function toService({ service, key }: Build): Send {
  return (wav) => post(`${service.baseUrl}/v1/transcribe`, { 'x-api-key': key }, wav, {});
}

function toOpenAi(url: string, key: string): Send {
  return (wav) => post(`${url}/audio/transcriptions`, { authorization: `Bearer ${key}` }, wav, { model: 'whisper-1' });
}

async function post(
  url: string,
  headers: Record<string, string>,
  wav: Buffer<ArrayBuffer>,
  fields: Record<string, string>,
): Promise<unknown> {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  body.append('file', new Blob([wav]), 'audio.wav');
  const answer = await fetch(url, { method: 'POST', headers, body });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${url} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** The samples of all audio files below the folder, one after the other. */
function decode(folder: string): Buffer {
  const ffmpeg = findProgram({ folder: process.env['VERBATIM_TOOLS'] ?? null }, 'ffmpeg');
  if (ffmpeg === null) throw new Error('ffmpeg is not installed');
  const files = readdirSync(folder).filter((name) => /\.(?:wav|flac|mp3|ogg|opus|m4a)$/.test(name));
  const format = ['-f', 's16le', '-ac', '1', '-ar', String(SAMPLE_RATE), '-'];
  const parts = files
    .sort()
    .map((name) =>
      execFileSync(ffmpeg, ['-v', 'error', '-i', path.join(folder, name), ...format], { maxBuffer: 2 ** 30 }),
    );
  if (parts.length === 0) throw new Error(`${folder} has no audio files`);
  return Buffer.concat(parts);
}

/** A part of the speech, which is repeated, as a WAV file. */
function wavOf(fromSeconds: number, seconds: number): Buffer<ArrayBuffer> {
  const length = seconds * BYTES_PER_SECOND;
  const start = (fromSeconds * BYTES_PER_SECOND) % speech.length;
  const parts: Buffer[] = [];
  for (let have = 0, at = start; have < length; at = 0) {
    const part = speech.subarray(at, at + length - have);
    parts.push(part);
    have += part.length;
  }
  return Buffer.concat([wavHeaderOf({ tag: 1, sampleRate: SAMPLE_RATE, sampleBytes: 2 }, length), ...parts]);
}
