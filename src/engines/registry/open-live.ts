import os from 'node:os';
import { pulledModels } from '../../models/folder.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import type { EngineOptions } from '../engine-options.ts';
import type { EngineSpec } from '../engine-spec.ts';
import { agreementEngine } from '../live/agreement-engine.ts';
import { judgedEngine } from '../live/judged-engine.ts';
import type { LiveEngine } from '../live/live-engine.ts';
import { EnginePresence } from '../presence/engine-presence.ts';
import { findSherpaModel } from '../sherpa/sherpa.ts';
import { openSherpaLive } from '../sherpa/sherpa-live.ts';
import { openVoiceDetector } from '../vad/vad.ts';
import { bestSpecs, openEngine, openFirstWorking, rankModels } from './open.ts';

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
 * The live engine of a spec. For null a pulled streaming model that knows what the plans' engine knows; else the best
 * engine for jobs, whose open segments are transcribed again and again.
 * @throws EngineError  that says what to install or repair
 */
export async function openLiveEngine(wanted: EngineSpec | null, options: LiveEngineOptions): Promise<LiveEngine> {
  const specs = wanted !== null ? [wanted] : [...(await streamingSpecs(options)), ...(await bestSpecs(options))];
  const { engine } = await openFirstWorking(specs, options, (spec) => openOne(spec, options));
  return engine;
}

async function openOne(spec: EngineSpec, options: LiveEngineOptions): Promise<LiveEngine> {
  // The other cores are for jobs and for the service.
  const processes = Math.max(1, Math.floor(os.availableParallelism() / 2));
  const streaming = spec.kind === 'sherpa-onnx' ? await openSherpaLive(spec.model, options, processes) : null;
  if (streaming === null) return await openByAgreement(spec, options);
  const detector = await openVoiceDetector(options);
  return detector === null ? streaming : withResource(judgedEngine(streaming, detector), detector);
}

/** An engine for whole pieces, which transcribes an open segment again and again. */
async function openByAgreement(spec: EngineSpec, options: LiveEngineOptions): Promise<LiveEngine> {
  const engine = new EnginePresence(await openEngine(spec, { ...options, niceness: NICENESS }), options);
  const detector = await openVoiceDetector(options);
  const isRemote = spec.kind === 'openai';
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

/** The pulled streaming models that know all languages of the best model for jobs. */
async function streamingSpecs({ modelsDir }: LiveEngineOptions): Promise<EngineSpec[]> {
  const names = await pulledModels(modelsDir).catch(() => []);
  const [best] = rankModels(names);
  const wanted = best === undefined ? ['en'] : await languagesOf(best, modelsDir);
  const specs: EngineSpec[] = [];
  for (const model of rankModels(names, 'live')) {
    const found = (await findSherpaModel(model, modelsDir).catch(() => null))?.found;
    if (found?.isStreaming && covers(found.languages, wanted)) specs.push({ kind: 'sherpa-onnx', model });
  }
  return specs;
}

async function languagesOf(model: string, modelsDir: string): Promise<readonly string[] | null> {
  return (await findSherpaModel(model, modelsDir).catch(() => null))?.found.languages ?? null;
}

/** Null stands for unknown languages, those of a model that is not in the catalogue: it is not refused. */
function covers(languages: readonly string[] | null, wanted: readonly string[] | null): boolean {
  return languages === null || (wanted?.every((language) => languages.includes(language)) ?? false);
}
