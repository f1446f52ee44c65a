import os from 'node:os';
import { pulledModels } from '../../models/folder.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import { chooseModel } from '../../rules/jobs/choose-model.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { agreementEngine } from '../live/agreement-engine.ts';
import { judgedEngine } from '../live/judged-engine.ts';
import type { LiveEngine } from '../live/live-engine.ts';
import { EnginePresence } from '../presence/engine-presence.ts';
import { findSherpaModel } from '../sherpa/sherpa.ts';
import { openSherpaLive } from '../sherpa/sherpa-live.ts';
import { openVoiceDetector } from '../vad/vad.ts';
import { installedModels, openEngine, openFirstWorking, openWorkingEngine, rankModels } from './open.ts';

export type LiveEngineOptions = EngineOptions & {
  clock: Clock;
  /** Absent: no spans. */
  tracer?: Tracer;
  /** Seconds between two transcripts of an open segment; null: 1 for engines of this machine, 3 for remote ones. */
  stepSeconds: number | null;
};

const STEP_SECONDS = { local: 1, remote: 3 };
// Of an engine that is called by HTTP, whose capacity is not known.
const REMOTE_SESSIONS = 50;
// Sessions for each engine process that transcribes open segments again and again.
const SESSIONS_PER_SLOT = 4;
// Live sessions before jobs, whose processes have 5. The service's own have 0: these may use every core.
const NICENESS = 2;

/**
 * The live engine of a spec. For null a pulled streaming model that knows what the plans' engine knows; else the models
 * for jobs, by which open segments are transcribed again and again.
 * @throws EngineError  that says what to install or repair
 */
export async function openLiveEngine(wanted: EngineSpec | null, options: LiveEngineOptions): Promise<LiveEngine> {
  const specs = wanted !== null ? [wanted] : [...(await streamingSpecs(options)), null];
  const { engine } = await openFirstWorking(specs, options, (spec) => openOne(spec, options));
  return engine;
}

async function openOne(spec: EngineSpec | null, options: LiveEngineOptions): Promise<LiveEngine> {
  // The other cores are for jobs and for the service.
  const processes = Math.max(1, Math.floor(os.availableParallelism() / 2));
  const streaming = spec?.kind === 'sherpa-onnx' ? await openSherpaLive(spec.model, options, processes) : null;
  if (streaming === null) return await openByAgreement(spec, options);
  const detector = await openVoiceDetector(options);
  return detector === null ? streaming : withResource(judgedEngine(streaming, detector), detector);
}

/** An engine for whole pieces, which transcribes an open segment again and again. */
async function openByAgreement(spec: EngineSpec | null, options: LiveEngineOptions): Promise<LiveEngine> {
  const engineOptions = { ...options, niceness: NICENESS };
  const opened =
    spec === null ? (await openWorkingEngine(null, engineOptions)).engine : await openEngine(spec, engineOptions);
  const engine = new EnginePresence(opened, options);
  const detector = await openVoiceDetector(options);
  const isRemote = spec?.kind === 'openai';
  const live = agreementEngine(engine, {
    clock: options.clock,
    stepSeconds: options.stepSeconds ?? (isRemote ? STEP_SECONDS.remote : STEP_SECONDS.local),
    sessions: isRemote ? REMOTE_SESSIONS : SESSIONS_PER_SLOT * engine.slots,
    detector,
  });
  return withResource(live, detector);
}

/** The engine, with something that is closed with it. */
function withResource(live: LiveEngine, resource: AsyncDisposable | null): LiveEngine {
  const close = live[Symbol.asyncDispose];
  live[Symbol.asyncDispose] = async () => {
    await close();
    await resource?.[Symbol.asyncDispose]();
  };
  return live;
}

/** The pulled streaming models that know all languages of the model that serves requests without a language. */
async function streamingSpecs({ modelsDir }: LiveEngineOptions): Promise<EngineSpec[]> {
  const models = await installedModels(modelsDir).catch(() => []);
  const wanted = models.length === 0 ? ['en'] : chooseModel(models, { language: null }).languages;
  const specs: EngineSpec[] = [];
  for (const model of rankModels(await pulledModels(modelsDir).catch(() => []), 'live')) {
    const found = (await findSherpaModel(model, modelsDir).catch(() => null))?.found;
    if (found?.isStreaming && covers(found.languages, wanted)) specs.push({ kind: 'sherpa-onnx', model });
  }
  return specs;
}

/** Null stands for unknown languages, those of a model that is not in the catalogue: it is not refused. */
function covers(languages: readonly string[] | null, wanted: readonly string[] | null): boolean {
  return languages === null || (wanted?.every((language) => languages.includes(language)) ?? false);
}
