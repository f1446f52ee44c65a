// Word errors of an engine called directly, of the same engine through the service, and of the service's first model,
// on clips with texts:
//   npm run bench:wer -- <texts.json> [--engine <spec>] [--models <folder>] [--joined <seconds>] [--server-pid <pid>]
// The JSON file is a list of { file, text }, files relative to it; one figure per `lang`, else per folder. Without it,
// the recordings of people that come with the project are measured. An engine spec is what ENGINE_PRO takes; `--models`
// is a folder of models, in which the voice detector is looked for too. With `--joined`, the clips of each figure are
// one file, with pauses of so many seconds between them. With `--server-pid`, the processor time of that process is
// shown.
// Directly, a speech server is sent the file as it is; a local model is given the clip as it is decoded, cut at the
// limit that its calibration shows. Each file in which the service has more errors is shown with the words that differ.
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { Agent, FormData, fetch } from 'undici';
import { decodePcm } from '../../src/audio/decode/decode.ts';
import { cutPieces } from '../../src/audio/split.ts';
import { dataPaths, readConfig } from '../../src/config/settings.ts';
import { type Engine, SAMPLE_RATE } from '../../src/engines/engine.ts';
import { type EngineSpec, engineSpec } from '../../src/engines/engine-spec.ts';
import { joinPcm } from '../../src/engines/join-pcm.ts';
import { openWorkingEngine } from '../../src/engines/registry/open.ts';
import { openLog } from '../../src/platform/log.ts';
import { wavOf } from '../../test/fixtures/audio/wav.ts';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { callDirectly } from '../../test/speech/whisper-server.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round } from '../figures.ts';
import { processorUs } from '../processor-time.ts';
import {
  countWordErrors,
  NORMALISER,
  type WordDifference,
  type WordErrors,
  wordDifferences,
  wordErrorRate,
} from './word-errors.ts';

type Clip = { file: string; text: string; lang?: string };
type ClipResult = WordErrors & { clip: Clip; heard: string };
/** The text of an audio file. */
type Transcribe = (file: string) => Promise<string>;

const PIECE_TIMEOUT_MS = 600_000;
/** A job is answered when it has ended. */
const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
const FIRST_MODEL = 'sherpa-onnx:moonshine-tiny';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    engine: { type: 'string' },
    models: { type: 'string' },
    joined: { type: 'string' },
    'server-pid': { type: 'string' },
  },
});
const texts = path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../../assets/speech/texts.json'));
const config = readConfig();
const modelsDir = path.resolve(values.models ?? dataPaths(config.dataDir).models);
const tools = { folder: config.toolsDir };
const slots = os.availableParallelism();
const given = (JSON.parse(readFileSync(texts, 'utf8')) as Clip[]).map(({ file, ...clip }) => ({
  ...clip,
  file: path.resolve(path.dirname(texts), file),
}));
const clips = values.joined === undefined ? given : await joinClips(given, Number(values.joined));
const engine = values.engine ?? FIRST_MODEL;

const direct = await callEngine((transcribe) => measure('direct', transcribe));
const served = await throughService(engine, (transcribe) => measure('service', transcribe));
const first =
  engine === FIRST_MODEL ? served : await throughService(FIRST_MODEL, (transcribe) => measure('first', transcribe));
for (const [at, one] of served.entries()) if (one.errors > direct[at]!.errors) showWorse(one, direct[at]!);
console.log(`words are compared after: ${NORMALISER}`);
for (const [group, results] of Map.groupBy(served, ({ clip }) => groupOf(clip))) {
  const others = [direct, first].map((all) => all.filter(({ clip }) => groupOf(clip) === group));
  const what = `${group}: word errors of ${results.length} files, direct | service | first model`;
  report(what, [others[0]!, results, others[1]!].map(rateOf).join(' | '), 'none');
}

function groupOf({ lang, file }: Clip): string {
  return lang ?? path.basename(path.dirname(file));
}

/** The clips of each group as one file. */
async function joinClips(all: Clip[], pauseSeconds: number): Promise<Clip[]> {
  const folder = temporaryFolder();
  const pause = new Int16Array(Math.round(pauseSeconds * SAMPLE_RATE));
  const groups = [...Map.groupBy(all, groupOf)];
  return await Promise.all(
    groups.map(async ([group, own]) => {
      const parts = await Promise.all(
        own.map(async ({ file }) =>
          joinPcm(await Array.fromAsync(decodePcm(file, { tools, maxAudioSeconds: config.maxAudioSeconds }))),
        ),
      );
      const file = path.join(folder, `${group}.wav`);
      writeFileSync(file, wavOf(joinPcm(parts.flatMap((part) => [part, pause]))));
      return { file, text: own.map(({ text }) => text).join(' '), lang: group };
    }),
  );
}

function rateOf(results: ClipResult[]): string {
  const errors = results.reduce((sum, result) => sum + result.errors, 0);
  const words = results.reduce((sum, result) => sum + result.words, 0);
  return `${round(wordErrorRate(results))} %, ${errors} of ${words}`;
}

function showWorse(service: ClipResult, beside: ClipResult): void {
  const shown = ({ said, heard }: WordDifference) => `${said ?? '–'}→${heard ?? '–'}`;
  console.log(`worse through the service: ${path.basename(service.clip.file)}`);
  for (const [what, { clip, heard, errors }] of Object.entries({ direct: beside, service })) {
    const differing = wordDifferences(clip.text, heard).map(shown).join(' ');
    console.log(`  ${what.padEnd(8)} ${errors} errors: ${differing}`);
  }
}

/** As many clips at once as there are slots, so that each core is at work to the end. */
async function measure(what: string, transcribe: Transcribe): Promise<ClipResult[]> {
  const waiting = clips.entries();
  const results: ClipResult[] = [];
  const startedAtMs = performance.now();
  const serverUs = () => processorUs(Number(values['server-pid'] ?? process.pid));
  const startUs = serverUs();
  const goOn = async () => {
    for (const [at, clip] of waiting) {
      const heard = await transcribe(clip.file);
      const found = countWordErrors(clip.text, heard);
      const name = path.basename(clip.file).padEnd(32);
      console.log(`${what.padEnd(8)} ${name} ${found.errors} of ${found.words} words: ${heard}`);
      results[at] = { ...found, clip, heard };
    }
  };
  await Promise.all(Array.from({ length: slots }, goOn));
  const tookSeconds = round((performance.now() - startedAtMs) / 1000);
  const serverSeconds = values['server-pid'] ? `; processor time of the server ${(serverUs() - startUs) / 1e6} s` : '';
  console.log(`${what.padEnd(8)} took ${tookSeconds} s${serverSeconds}`);
  return results;
}

async function callEngine<Result>(work: (transcribe: Transcribe) => Promise<Result>): Promise<Result> {
  const spec: EngineSpec = readSpec();
  if (spec.kind === 'openai') {
    const server = { baseUrl: spec.baseUrl, modelName: spec.model ?? 'whisper-1' };
    return await work(async (file) => (await callDirectly(server, file)).text);
  }
  const options = { modelsDir, slots, threadsPerSlot: 1, apiKey: config.engineApiKey, tools, log: openLog('warn') };
  const { engine: opened } = await openWorkingEngine(spec, options);
  try {
    return await work((file) => transcribeAlone(opened, file));
  } finally {
    await opened[Symbol.asyncDispose]();
  }
}

function readSpec(): EngineSpec {
  const spec = engineSpec(engine);
  if ('mistake' in spec) throw new Error(`--engine ${spec.mistake}`);
  return spec.value;
}

async function transcribeAlone(engine: Engine, file: string): Promise<string> {
  const options = { language: null, timeoutMs: PIECE_TIMEOUT_MS, signal: new AbortController().signal };
  const heard: string[] = [];
  const pcm = decodePcm(file, { tools, maxAudioSeconds: config.maxAudioSeconds });
  for await (const piece of cutPieces(pcm, undefined, engine.maxPieceSeconds)) {
    const { segments } = await engine.transcribe(piece.samples, options);
    heard.push(...segments.map((segment) => segment.text));
  }
  return heard.join(' ');
}

async function throughService<Result>(
  spec: string,
  work: (transcribe: Transcribe) => Promise<Result>,
): Promise<Result> {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  symlinkSync(modelsDir, path.join(dataDir, 'models'));
  const limits = {
    RATE_LIMIT_TRANSCRIBE: 'off',
    RATE_LIMIT_DEFAULT: 'off',
    LOG_LEVEL: 'warn',
    MODEL_DOWNLOAD: 'off',
    SYNC_WAIT_SECONDS: '3600',
  };
  const engines = { ENGINE_PRO: spec, ENGINE_LITE: spec };
  await using service = await openService({ ...database.env, ...engines, ...limits }, dataDir);
  const { key } = await service.account();
  return await work(async (file) => {
    const form = new FormData();
    form.append('file', new Blob([readFileSync(file)]), path.basename(file));
    const url = `${service.baseUrl}/v1/transcribe`;
    const headers = { 'x-api-key': key };
    const answer = await fetch(url, { method: 'POST', headers, body: form, dispatcher: PATIENT });
    const job = (await answer.json()) as { text?: string };
    if (answer.status !== 200) throw new Error(`${file}: ${answer.status} ${JSON.stringify(job)}`);
    return job.text!;
  });
}
