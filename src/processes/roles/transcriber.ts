import { once } from 'node:events';
import { openStorage } from '../../audio/storage/open-storage.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import { dataPaths } from '../../config/settings.ts';
import type { EnginePresence } from '../../engines/presence/engine-presence.ts';
import { openSpeakerFinder } from '../../engines/speakers/speakers.ts';
import { openVoiceDetector } from '../../engines/vad/vad.ts';
import { startTranscriber } from '../../jobs/execution/worker.ts';
import { startFetcher } from '../../jobs/fetch/fetcher.ts';
import { endOrphan } from '../../live/session/orphan.ts';
import { ModelWatch } from '../../models/pull/model-watch.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { jobMetrics } from '../../platform/metrics.ts';
import { openSecretBoxOf } from '../../webhooks/secrets/secrets.ts';
import { EngineReports } from './engine-reports.ts';
import { openEngines } from './open-engines.ts';
import type { RoleContext, RunningRole } from './role.ts';

// Else each claim is planned again as soon as the jobs have statistics, which takes as long as the claim itself.
export const plansOnce = true;
// Each wakes the listeners of every process. While jobs are short, the ends of several are announced together.
export const notifyIntervalMs = 8;

const POLL_MS = 100;

/** Fetches audio for jobs, and transcribes queued jobs. Jobs whose engine is away wait; /readyz says what to do. */
export async function start(context: RoleContext): Promise<RunningRole> {
  const stopping = new AbortController();
  const { config, db, log, clock, metrics } = context;
  const storage = await openStorage(config, context.order.storageId);
  const tools = { folder: config.toolsDir };
  const fetcher = await startFetcher({
    config,
    db,
    clock,
    log,
    storage,
    tools,
    secretBox: openSecretBoxOf(context.order.secretsKeysBase64),
    jobMetrics: jobMetrics(metrics),
    holder: context.order.holder,
  });
  const models = new ModelWatch(context);
  let work: Work | null = null;
  const watching = models.watch(stopping.signal);
  const working = workUntil(stopping.signal, models, async (signal) => {
    work = await startWork(context, models, storage, signal);
    return work;
  });
  endOnFailure(Promise.all([working, watching]), log);

  return {
    measure: async () => work?.measure(),
    async stop() {
      stopping.abort();
      await Promise.all([working, watching, fetcher.stop()]);
    },
  };
}

type Work = { measure(): void; stop(): Promise<void> };

/** Works with the models that are there; when they change, the engines are opened again. */
async function workUntil(
  signal: AbortSignal,
  models: ModelWatch,
  begin: (until: AbortSignal) => Promise<Work>,
): Promise<void> {
  while (!signal.aborted) {
    const until = AbortSignal.any([signal, models.changed]);
    const work = await begin(until);
    if (!until.aborted) await once(until, 'abort');
    await work.stop();
  }
}

/** Transcribes jobs as soon as an engine works. `stop` hands back the jobs under way, and closes the engines. */
async function startWork(
  context: RoleContext,
  models: ModelWatch,
  storage: AudioStorage,
  signal: AbortSignal,
): Promise<Work> {
  const { config, db, log, clock, metrics, tracer } = context;
  const tools = { folder: config.toolsDir };
  const onRestart = (engine: string) => metrics.engineRestarts.inc({ engine });
  const onMessages = (engine: string) => metrics.engineMessages.inc({ engine });

  const engines = openEngines(context, models, { onRestart, onMessages });
  const watched = [...new Set([engines.lite, engines.pro])];
  const watching = Promise.all(watched.map((engine) => engine.watch(signal)));
  const modelsDir = dataPaths(config.dataDir).models;
  const speakerFinder = await openSpeakerFinder({ modelsDir, openScratch: storage.openScratch, tools, log });
  let worker: Awaited<ReturnType<typeof startTranscriber>> | null = null;
  const isStorageAway = () => worker?.isStorageAway() ?? false;
  const about = { canDiarize: speakerFinder !== null, isStorageAway };
  const reports = new EngineReports(engines, { ...context, holder: context.order.holder }, about);
  const reporting = reports.run(signal);

  const running = untilOneWorks(watched, clock, signal).then(async () => {
    if (signal.aborted) return null;
    const detector = await openVoiceDetector({ modelsDir, slots: config.transcribeConcurrency, tools, log });
    worker = await startTranscriber({
      db,
      config,
      engines,
      detector,
      speakerFinder,
      storage,
      tools,
      clock,
      log,
      jobMetrics: jobMetrics(metrics),
      tracer,
      endOrphan,
      holder: context.order.holder,
    });
    return { detector, worker };
  });
  endOnFailure(Promise.all([running, watching, reporting]), log);

  return {
    measure: () => reports.measure(),
    async stop() {
      const [started] = await Promise.all([running, reporting]);
      await started?.worker.stop();
      await watching;
      await started?.detector?.[Symbol.asyncDispose]();
      for (const engine of watched) await engine[Symbol.asyncDispose]();
    },
  };
}

/** The voice detector is opened then: it may be fetched with the first model. */
async function untilOneWorks(engines: EnginePresence[], clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && engines.every((engine) => engine.absence() !== null)) await clock.sleep(POLL_MS, signal);
}

/** A failure here is ours: the process ends, its log says why, and the parent starts it again. */
function endOnFailure(work: Promise<unknown>, log: Log): void {
  work.catch((error: unknown) => {
    log.error({ err: error }, 'transcriber did not start');
    process.exit(1);
  });
}
