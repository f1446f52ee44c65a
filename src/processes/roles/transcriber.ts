import { openStorage } from '../../audio/storage/open-storage.ts';
import { dataPaths } from '../../config/settings.ts';
import { openSpeakerFinder } from '../../engines/speakers/speakers.ts';
import { openVoiceDetector } from '../../engines/vad/vad.ts';
import { reportEngine } from '../../jobs/api/engine-store.ts';
import { startTranscriber } from '../../jobs/execution/worker.ts';
import { startFetcher } from '../../jobs/fetch/fetcher.ts';
import { jobMetrics } from '../../platform/metrics.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { openSecretBoxOf } from '../../webhooks/secrets/secrets.ts';
import { watchEngines } from './engine-health.ts';
import { type Engines, waitForEngines } from './open-engines.ts';
import type { RoleContext, RunningRole } from './role.ts';

// Else each claim is planned again as soon as the jobs have statistics, which takes as long as the claim itself.
export const plansOnce = true;
// Each wakes the listeners of every process. While jobs are short, the ends of several are announced together.
export const notifyIntervalMs = 8;

const REPORT_RETRY_MS = 5_000;

/** Fetches audio for jobs, and transcribes queued jobs. Without an engine it waits for one; /readyz says what to do. */
export async function start(context: RoleContext): Promise<RunningRole> {
  const stopping = new AbortController();
  const { config, db, log, clock, metrics, report } = context;
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

  const running = waitForEngines(context, { onRestart }, stopping.signal).then(async (opened) => {
    if (!opened) return null;
    const modelsDir = dataPaths(config.dataDir).models;
    const speakerFinder = await openSpeakerFinder({ modelsDir, openScratch: storage.openScratch, tools, log });
    await reportEngines(context, opened, speakerFinder !== null, stopping.signal);
    const about = [...new Set([opened.lite.name, opened.pro.name])].join(', ');
    const { engines, watching } = watchEngines(
      opened,
      { clock, log, report: (status) => report({ ...status, about }) },
      stopping.signal,
    );
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
    return { engines, detector, worker, watching };
  });
  // A failure here is ours: the process ends, its log says why, and the parent starts it again.
  running.catch((error: unknown) => {
    log.error({ err: error }, 'transcriber did not start');
    process.exit(1);
  });

  return {
    async stop() {
      stopping.abort();
      const [started] = await Promise.all([running, fetcher.stop()]);
      await started?.worker.stop();
      await started?.watching;
      await started?.detector?.[Symbol.asyncDispose]();
      await started?.engines.lite[Symbol.asyncDispose]();
      if (started && started.engines.pro !== started.engines.lite) await started.engines.pro[Symbol.asyncDispose]();
    },
  };
}

/** Before the role is ready: from then on the API refuses what the engines cannot do. */
async function reportEngines(
  { db, clock, log }: RoleContext,
  engines: Engines,
  canDiarize: boolean,
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    try {
      for (const plan of PLANS) await reportEngine(db, plan, engines[plan], canDiarize);
      return;
    } catch (error) {
      log.warn({ err: error }, 'the engines could not be reported yet');
      await clock.sleep(REPORT_RETRY_MS, signal);
    }
  }
}
