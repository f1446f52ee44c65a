// How late the words of live sessions come, what a session costs, and how many a node bears: tone speech, sent at the
// pace at which it would be spoken. Options: --sessions 300 --seconds 20 --encoding pcm_s16le, and --part few, jobs or
// many for one part. BENCH_PROFILE=<folder> keeps CPU profiles of the service's Node processes.
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { STREAMING_TONE_MODEL, TONE_MODEL } from '../../test/fixtures/audio/test-audio.ts';
import { fetchModels } from '../../test/fixtures/fetch-models.ts';
import { openService, type ServiceAccount, type TestService } from '../../test/fixtures/service.ts';
import { SPEECH_MODEL } from '../../test/fixtures/speech-model.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round, spread } from '../figures.ts';
import { httpProcessOf } from '../http-process.ts';
import { processorUs } from '../processor-time.ts';
import { type LiveFigures, type LiveLoad, runLiveSessions } from './live-sessions.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '300' },
    seconds: { type: 'string', default: '20' },
    encoding: { type: 'string', default: 'pcm_s16le' },
    part: { type: 'string', default: 'all' },
  },
});
const SESSIONS = Number(values.sessions);
const SECONDS = Number(values.seconds);
const SAMPLE = readFileSync(new URL('../../assets/speech/librivox-0890.wav', import.meta.url));
const ENDPOINTING_MS = 600;
const FEW = 4;
const FEW_SECONDS = 30;
// Of 5 s: more than two cores transcribe in the time of the figures.
const JOBS = 300;
const profileFolder = process.env['BENCH_PROFILE'];
const ENV = {
  LOG_LEVEL: 'warn',
  RATE_LIMIT_LIVE: 'off',
  RATE_LIMIT_DEFAULT: 'off',
  RATE_LIMIT_TRANSCRIBE: 'off',
  MAX_LIVE_SESSIONS_PER_ACCOUNT: '100000',
  MAX_CONNECTIONS: '20000',
  MAX_CONNECTIONS_PER_ADDRESS: '20000',
  ...(profileFolder && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${profileFolder}` }),
  ENGINE_LITE: `sherpa-onnx:${TONE_MODEL}`,
  ENGINE_PRO: `sherpa-onnx:${TONE_MODEL}`,
};

const isWanted = (part: string) => [part, 'all'].includes(values.part);
if (isWanted('few')) {
  await measureFew('streamed', STREAMING_TONE_MODEL, { partial: '<= 220, <= 400', final: 200 });
  await measureFew('by agreement', TONE_MODEL, { partial: '<= 900', final: 400 });
}
if (isWanted('jobs')) {
  await fetchModels();
  await measureBesideJobs('streamed', STREAMING_TONE_MODEL, { partial: '<= 220, <= 400', final: 700 });
  await measureBesideJobs('by agreement', TONE_MODEL, { partial: '<= 900', final: 900 });
}
if (isWanted('many')) await measureMany();

/** How late the words of few sessions come. */
async function measureFew(name: string, model: string, goal: { partial: string; final: number }): Promise<void> {
  await using node = await openNode(model);
  // Loads the engine.
  await node.run({ sessions: 1, seconds: 1, encoding: 'pcm_s16le' });
  reportLags(name, await node.run({ sessions: FEW, seconds: FEW_SECONDS, encoding: 'pcm_s16le' }), goal);
}

/** How late the words of few sessions come while jobs wait for every core, and how many jobs complete meanwhile. */
async function measureBesideJobs(name: string, model: string, goal: { partial: string; final: number }): Promise<void> {
  await using node = await openNode(model, {
    ENGINE_LITE: `sherpa-onnx:${SPEECH_MODEL}`,
    ENGINE_PRO: `sherpa-onnx:${SPEECH_MODEL}`,
  });
  await node.run({ sessions: 1, seconds: 1, encoding: 'pcm_s16le' });
  for (let job = 0; job < JOBS; job++) await node.transcribe();
  const completedIn = async (work: () => Promise<unknown>) => {
    const [before, startMs] = [await node.completedJobs(), performance.now()];
    await work();
    return ((await node.completedJobs()) - before) / ((performance.now() - startMs) / 60_000);
  };
  const alone = await completedIn(() => delay(FEW_SECONDS * 1000));
  let figures!: LiveFigures;
  const beside = await completedIn(async () => {
    figures = await node.run({ sessions: FEW, seconds: FEW_SECONDS, encoding: 'pcm_s16le' });
  });
  reportLags(`${name} beside jobs`, figures, goal);
  report(`jobs a minute beside sessions ÷ alone, ${name}`, `${round(beside)} ÷ ${round(alone)}`, '>= 0.45');
  console.log(`  ${figures.wrongTexts} of ${FEW} texts are wrong`);
}

function reportLags(name: string, figures: LiveFigures, goal: { partial: string; final: number }): void {
  const partial = spread(figures.partialLagMs);
  report(`${name}: partial lag, ms, p50 and p99`, `${partial.p50}, ${partial.p99}`, goal.partial);
  report(`${name}: final lag beyond the endpointing, ms, p95`, String(p95(figures.finalLagMs)), `<= ${goal.final}`);
  report(`${name}: acknowledged after, ms, p95`, String(p95(figures.ackLagMs)), '<= 400');
  report(`${name}: hello after, ms, p95`, String(p95(figures.helloMs)), '<= 30');
}

/** What many sessions cost, and how late they and the other requests are. */
async function measureMany(): Promise<void> {
  await using node = await openNode(STREAMING_TONE_MODEL);
  const encoding = values.encoding as LiveLoad['encoding'];
  const http = httpProcessOf(node.service.pid);
  await node.run({ sessions: 1, seconds: 1, encoding });
  const restKiB = residentKiB(http);
  let peak = 0;
  using _sampler = setInterval(() => {
    peak = Math.max(peak, residentKiB(http));
  }, 500);
  let speakingPeak = 0;
  const times: number[] = [];
  let isOver = false;
  const requests = (async () => {
    while (!isOver) {
      const startMs = performance.now();
      await (await fetch(`${node.service.baseUrl}/v1/webhooks`, { headers: node.headers })).arrayBuffer();
      times.push(performance.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  })();
  const usedBeforeUs = processorUs(http);
  const onSent = () => {
    speakingPeak ||= peak;
  };
  const figures = await node.run({ sessions: SESSIONS, seconds: SECONDS, encoding, onSent });
  const usedUs = processorUs(http) - usedBeforeUs;
  isOver = true;
  await requests;
  const partial = spread(figures.partialLagMs);
  const name = `${SESSIONS} sessions of ${encoding}`;
  report(`${name}: partial lag, ms, p50, p99 and most`, `${partial.p50}, ${partial.p99}, ${partial.max}`, '<= 2000');
  report(`${name}: final lag, ms, p95`, String(p95(figures.finalLagMs)), 'none');
  report(`${name}: acknowledged after, ms, p95`, String(p95(figures.ackLagMs)), '<= 800');
  report(`${name}: other requests, ms, p99`, String(spread(times).p99), '<= 100');
  const eachKiB = (kib: number) => String(round((kib - restKiB) / SESSIONS));
  report(`${name}: memory of http for each while all speak, KiB`, eachKiB(speakingPeak), '<= 150');
  report(`${name}: the same until all have ended, KiB`, eachKiB(peak), '<= 150');
  console.log(`  processor time of http for a second of audio: ${round(usedUs / figures.audioSeconds)} us`);
  console.log(`  ${figures.wrongTexts} of ${SESSIONS} texts are wrong`);
}

async function openNode(model: string, env: Record<string, string> = {}) {
  const database = await startServiceDatabase();
  const service = await openService({
    ...database.env,
    ...ENV,
    ...env,
    ENGINE_LIVE_LITE: `sherpa-onnx:${model}`,
    ENGINE_LIVE_PRO: `sherpa-onnx:${model}`,
    LIVE_SESSIONS: '100000',
  });
  const account: ServiceAccount = await service.account();
  const headers = { authorization: `Bearer ${account.key}` };
  return {
    service: service as TestService,
    headers,
    async transcribe(): Promise<void> {
      const body = new FormData();
      body.append('file', new Blob([SAMPLE]), 'speech.wav');
      body.append('async', 'true');
      const answer = await fetch(`${service.baseUrl}/v1/transcribe`, { method: 'POST', headers, body });
      if (answer.status !== 202) throw new Error(`no job: ${answer.status} ${await answer.text()}`);
      await answer.body?.cancel();
    },
    /** Without the sessions, which are jobs as well: each has closed its connection. */
    async completedJobs(): Promise<number> {
      const answer = await fetch(`${service.baseUrl}/metrics`, {
        headers: { authorization: `Bearer ${service.adminToken}` },
      });
      const text = await answer.text();
      const sumOf = (series: RegExp) => [...text.matchAll(series)].reduce((sum, [, count]) => sum + Number(count), 0);
      return (
        sumOf(/^verbatim_jobs_total\{.*completed.*\} (\d+)$/gm) - sumOf(/^verbatim_live_closes_total\{.*\} (\d+)$/gm)
      );
    },
    run: (load: LiveLoad): Promise<LiveFigures> => runLiveSessions(service.baseUrl, account.key, load, ENDPOINTING_MS),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

function p95(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(0.95 * sorted.length))] ?? Number.NaN);
}

function residentKiB(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]);
}
