// Word error rate of an engine through the service, and of its model alone, on clips with texts:
//   npm run bench:wer -- <texts.json> [--engine <spec>] [--models <folder>]
// The JSON file is a list of { file, text }, files relative to it; one figure per folder. Without it, the recordings of
// people that come with the project are measured. An engine spec is what ENGINE_PRO takes; `--models` is a folder of
// models, in which the voice detector is looked for too.
// "Alone" gives the model each clip as it is decoded, cut at the limit that its calibration shows.
import { readFileSync, symlinkSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { decodePcm } from '../../src/audio/decode/decode.ts';
import { cutPieces } from '../../src/audio/split.ts';
import { dataPaths, readConfig } from '../../src/config/settings.ts';
import type { Engine } from '../../src/engines/engine.ts';
import { engineSpec } from '../../src/engines/engine-spec.ts';
import { openWorkingEngine } from '../../src/engines/registry/open.ts';
import { openLog } from '../../src/platform/log.ts';
import { openService, temporaryFolder } from '../../test/fixtures/service.ts';
import { startServiceDatabase } from '../database.ts';
import { report, round } from '../figures.ts';
import { countWordErrors, NORMALISER, type WordErrors, wordErrorRate } from './word-errors.ts';

type Clip = { file: string; text: string };
type ClipResult = WordErrors & { folder: string };
/** The text of an audio file. */
type Transcribe = (file: string) => Promise<string>;

const PIECE_TIMEOUT_MS = 600_000;
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { engine: { type: 'string' }, models: { type: 'string' } },
});
const texts = path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../../assets/speech/texts.json'));
const clips = JSON.parse(readFileSync(texts, 'utf8')) as Clip[];
const config = readConfig();
const modelsDir = path.resolve(values.models ?? dataPaths(config.dataDir).models);
const tools = { folder: config.toolsDir };
const slots = os.availableParallelism();

const alone = await withModelAlone((transcribe) => measure('alone', transcribe));
const served = await throughService((transcribe) => measure('service', transcribe));
console.log(`words are compared after: ${NORMALISER}`);
for (const [folder, results] of Map.groupBy(served, (result) => result.folder)) {
  const beside = alone.filter((result) => result.folder === folder);
  const what = `word error rate of ${results.length} clips in ${folder}/: service (model alone)`;
  report(what, `${rateOf(results)} (${rateOf(beside)})`, 'none');
}

function rateOf(results: ClipResult[]): string {
  const errors = results.reduce((sum, result) => sum + result.errors, 0);
  const words = results.reduce((sum, result) => sum + result.words, 0);
  return `${round(wordErrorRate(results))} %, ${errors} of ${words} words`;
}

/** As many clips at once as there are slots, so that each core is at work to the end. */
async function measure(what: string, transcribe: Transcribe): Promise<ClipResult[]> {
  const waiting = clips.entries();
  const results: ClipResult[] = [];
  const startedAtMs = performance.now();
  const goOn = async () => {
    for (const [at, { file, text }] of waiting) {
      const heard = await transcribe(path.resolve(path.dirname(texts), file));
      const found = countWordErrors(text, heard);
      console.log(`${what.padEnd(8)} ${file.padEnd(32)} ${found.errors} of ${found.words} words: ${heard}`);
      results[at] = { ...found, folder: path.dirname(file) };
    }
  };
  await Promise.all(Array.from({ length: slots }, goOn));
  console.log(`${what.padEnd(8)} took ${round((performance.now() - startedAtMs) / 1000)} s`);
  return results;
}

async function withModelAlone<Result>(work: (transcribe: Transcribe) => Promise<Result>): Promise<Result> {
  const spec = values.engine === undefined ? null : engineSpec(values.engine);
  if (spec !== null && 'mistake' in spec) throw new Error(`--engine ${spec.mistake}`);
  const options = { modelsDir, slots, threadsPerSlot: 1, apiKey: config.engineApiKey, tools, log: openLog('warn') };
  const { engine } = await openWorkingEngine(spec?.value ?? config.enginePro, options);
  try {
    return await work((file) => transcribeAlone(engine, file));
  } finally {
    await engine[Symbol.asyncDispose]();
  }
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

async function throughService<Result>(work: (transcribe: Transcribe) => Promise<Result>): Promise<Result> {
  await using database = await startServiceDatabase();
  const dataDir = temporaryFolder();
  symlinkSync(modelsDir, path.join(dataDir, 'models'));
  const engine: Record<string, string> =
    values.engine === undefined ? {} : { ENGINE_PRO: values.engine, ENGINE_LITE: values.engine };
  const limits = { RATE_LIMIT_TRANSCRIBE: 'off', RATE_LIMIT_DEFAULT: 'off', LOG_LEVEL: 'warn', MODEL_DOWNLOAD: 'off' };
  await using service = await openService({ ...database.env, ...engine, ...limits }, dataDir);
  const { key } = await service.account();
  return await work(async (file) => {
    const form = new FormData();
    form.append('file', new Blob([readFileSync(file)]), path.basename(file));
    const url = `${service.baseUrl}/v1/transcribe`;
    const answer = await fetch(url, { method: 'POST', headers: { 'x-api-key': key }, body: form });
    const job = (await answer.json()) as { text?: string };
    if (answer.status !== 200) throw new Error(`${file}: ${answer.status} ${JSON.stringify(job)}`);
    return job.text!;
  });
}
