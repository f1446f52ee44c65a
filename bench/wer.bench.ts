// Word error rate and speed of an engine on clips with texts:
//   npm run bench:wer -- <manifest.json> [--engine <spec>]
// The manifest is a JSON list of { file, text, seconds }, files relative to it; one figure per folder. Without a
// manifest it reads the sample that comes with the project, which tells little.
// An engine spec is what ENGINE_PRO takes.
import { readFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { decodePcm } from '../src/audio/media/decode.ts';
import { cutPieces } from '../src/audio/split.ts';
import { dataPaths, readConfig } from '../src/config/settings.ts';
import { type Engine, SAMPLE_RATE } from '../src/engines/engine.ts';
import type { EngineOptions } from '../src/engines/engine-options.ts';
import { engineSpec } from '../src/engines/engine-spec.ts';
import { openWorkingEngine } from '../src/engines/registry/open.ts';
import { openLog } from '../src/platform/log.ts';
import { report, round } from './figures.ts';
import { countWordErrors, type WordErrors, wordErrorRate } from './word-errors.ts';

type Clip = { file: string; text: string };
type ClientResults = WordErrors & { folder: string; seconds: number };

const PIECE_TIMEOUT_MS = 600_000;
const { values, positionals } = parseArgs({ allowPositionals: true, options: { engine: { type: 'string' } } });
const manifest = path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../assets/speech/texts.json'));
const config = readConfig();
const tools = { folder: config.toolsDir };

await using engine = await openWanted(values.engine ?? null);
const startedAtMs = performance.now();
const heard = await listenToAll(engine, JSON.parse(readFileSync(manifest, 'utf8')) as Clip[]);
const tookSeconds = (performance.now() - startedAtMs) / 1000;

for (const [folder, clips] of Map.groupBy(heard, (clip) => clip.folder)) {
  const what = `word error rate of ${engine.name}, ${clips.length} clips in ${folder}/`;
  const errors = clips.reduce((sum, clip) => sum + clip.errors, 0);
  const words = clips.reduce((sum, clip) => sum + clip.words, 0);
  report(what, `${round(wordErrorRate(clips))} % (${errors} of ${words} words)`, 'none: it compares engines');
}
const audioSeconds = heard.reduce((sum, clip) => sum + clip.seconds, 0);
report('audio seconds per second', `${round(audioSeconds / tookSeconds)} on ${engine.slots} slots`, 'none');

async function openWanted(text: string | null): Promise<Engine> {
  const spec = text === null ? null : engineSpec(text);
  if (spec !== null && 'mistake' in spec) throw new Error(`--engine ${spec.mistake}`);
  const options: EngineOptions = {
    modelsDir: dataPaths(config.dataDir).models,
    slots: os.availableParallelism(),
    threadsPerSlot: 1,
    apiKey: config.engineApiKey,
    tools,
    log: openLog('warn'),
  };
  return (await openWorkingEngine(spec?.value ?? config.enginePro, options)).engine;
}

/** As many clips at once as the engine has slots, so that each core is at work to the end. */
async function listenToAll(engine: Engine, clips: Clip[]): Promise<ClientResults[]> {
  const waiting = clips.entries();
  const all: ClientResults[] = [];
  const listenOn = async () => {
    for (const [at, clip] of waiting) all[at] = await listenTo(engine, clip);
  };
  await Promise.all(Array.from({ length: engine.slots }, listenOn));
  return all;
}

async function listenTo(engine: Engine, { file, text }: Clip): Promise<ClientResults> {
  const source = path.resolve(path.dirname(manifest), file);
  const options = { language: null, timeoutMs: PIECE_TIMEOUT_MS, signal: new AbortController().signal };
  const texts: string[] = [];
  let samples = 0;
  for await (const piece of cutPieces(decodePcm(source, { tools, maxAudioSeconds: config.maxAudioSeconds }))) {
    samples += piece.samples.length;
    const { segments } = await engine.transcribe(piece.samples, options);
    texts.push(...segments.map((segment) => segment.text));
  }
  const found = countWordErrors(text, texts.join(' '));
  console.log(`${file.padEnd(40)} ${String(found.errors).padStart(3)} of ${found.words} words: ${texts.join(' ')}`);
  return { ...found, folder: path.dirname(file), seconds: samples / SAMPLE_RATE };
}
