import { openStorage } from '../../audio/storage/open-storage.ts';
import { dataPaths } from '../../config/settings.ts';
import type { EnginePresence } from '../../engines/presence/engine-presence.ts';
import { openSpeakerFinder } from '../../engines/speakers/speakers.ts';
import { openVoiceDetector } from '../../engines/vad/vad.ts';
import { startTranscriber } from '../../jobs/execution/worker.ts';
import { startFetcher } from '../../jobs/fetch/fetcher.ts';
import type { Clock } from '../../platform/clock.ts';
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
  const storage = await openStorage(config);
  const tools = { folder: config.toolsDir };
  const fetcher = await startFetcher({
    config,
    db,
    clock,
    log,
    storage,
    tools,
    secretBox: openSecretBoxOf(context.order.secretsKeysBase64),
    metrics: jobMetrics(metrics),
    holder: context.order.holder,
  });
  const onRestart = (engine: string) => metrics.engineRestarts.inc({ engine });

  const engines = openEngines(context, { onRestart });
  const watched = [...new Set([engines.lite, engines.pro])];
  const watching = Promise.all(watched.map((engine) => engine.watch(stopping.signal)));
  const modelsDir = dataPaths(config.dataDir).models;
  const speakerFinder = await openSpeakerFinder({ modelsDir, openScratch: storage.openScratch, tools, log });
  const reports = new EngineReports(engines, { ...context, holder: context.order.holder }, speakerFinder !== null);
  const reporting = reports.run(stopping.signal);

  const running = untilOneWorks(watched, clock, stopping.signal).then(async () => {
    if (stopping.signal.aborted) return null;
    const detector = await openVoiceDetector({ modelsDir, slots: config.transcribeConcurrency, tools, log });
    const worker = await startTranscriber({
      db,
      config,
      engines,
      detector,
      speakerFinder,
      storage,
      tools,
      clock,
      log,
      metrics: jobMetrics(metrics),
      holder: context.order.holder,
    });
    return { detector, worker };
  });
  // A failure here is ours: the process ends, its log says why, and the parent starts it again.
  Promise.all([running, watching, reporting]).catch((error: unknown) => {
    log.error({ err: error }, 'transcriber did not start');
    process.exit(1);
  });

  return {
    measure: async () => reports.measure(),
    async stop() {
      stopping.abort();
      const [started] = await Promise.all([running, fetcher.stop(), reporting]);
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
