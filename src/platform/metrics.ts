import type { Registry } from 'prom-client';
import type { MetricSnapshot } from './metric-kinds.ts';
import { counter, gauge, histogram, labelledGauge } from './metric-kinds.ts';

/** The metrics of one process, as they travel to the process that shows them. */
export type MetricsSnapshot = MetricSnapshot[];

export type Metrics = ReturnType<typeof openMetrics>;

const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300];
// Up to the 5 s that an attempt may take.
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6];

/**
 * Every metric of ours, each process with its own; `mergeMetrics` adds them up. Gauges are set by
 * one process of a node at a time; where several do, sums add up and ages take the greatest.
 */
export function openMetrics() {
  return {
    requests: counter({
      name: 'verbatim_requests_total',
      help: 'HTTP requests that were answered.',
      labelNames: ['route', 'method', 'status'],
    }),
    requestSeconds: histogram({
      name: 'verbatim_request_duration_seconds',
      help: 'From the headers of a request to the end of its answer.',
      labelNames: ['route', 'method'],
      buckets: REQUEST_SECONDS,
    }),
    rateRefusals: counter({
      name: 'verbatim_rate_refusals_total',
      help: 'Requests refused with 429.',
      labelNames: ['bucket'],
    }),
    connectionsClosed: counter({
      name: 'verbatim_connections_closed_total',
      help: 'Connections closed at MAX_CONNECTIONS (limit all) or MAX_CONNECTIONS_PER_ADDRESS (limit address).',
      labelNames: ['which', 'limit'],
    }),
    jobs: counter({
      name: 'verbatim_jobs_total',
      help: 'Jobs that ended: completed, failed or canceled, and why they failed.',
      labelNames: ['outcome', 'error_type', 'plan'],
    }),
    audioSeconds: counter({
      name: 'verbatim_audio_seconds_total',
      help: 'Seconds of audio transcribed.',
      labelNames: ['plan'],
    }),
    jobsDue: gauge({
      name: 'verbatim_jobs_due',
      help: 'Jobs that wait for a transcriber now.',
      aggregator: 'max',
    }),
    jobsOldestDueSeconds: gauge({
      name: 'verbatim_jobs_oldest_due_age_seconds',
      help: 'How long the longest waiting job is due.',
      aggregator: 'max',
    }),
    deliveriesPastDue: gauge({
      name: 'verbatim_deliveries_past_due',
      help: 'Attempts whose time has come and that are not under way; healthy retries do not count.',
      aggregator: 'max',
    }),
    deliveriesOldestDueSeconds: gauge({
      name: 'verbatim_deliveries_oldest_due_age_seconds',
      help: 'How long the attempt that waits longest is due.',
      aggregator: 'max',
    }),
    attempts: counter({
      name: 'verbatim_attempts_total',
      help: 'Attempts to deliver that were recorded, and why they failed.',
      labelNames: ['outcome', 'reason'],
    }),
    attemptSeconds: histogram({
      name: 'verbatim_attempt_duration_seconds',
      help: 'From the first byte of name resolution to the end of an attempt.',
      buckets: ATTEMPT_SECONDS,
    }),
    webhookWarnings: counter({
      name: 'verbatim_webhook_failure_warnings_total',
      help: 'Webhooks whose streak of failures reached 5, 7 or 9 of the 10 that disable them.',
    }),
    webhooksDisabled: counter({
      name: 'verbatim_webhooks_disabled_total',
      help: 'Webhooks disabled for consecutive failures.',
    }),
    engineRestarts: counter({
      name: 'verbatim_engine_restarts_total',
      help: 'Engine processes that ended unasked and were started again.',
      labelNames: ['engine'],
    }),
    sandboxProtection: labelledGauge({
      name: 'verbatim_sandbox_protection',
      help: 'What decoders of audio are kept from: 1 where the protection holds, 0 where the system does not allow it.',
      labelNames: ['protection'],
      aggregator: 'max',
    }),
    ledgerDrift: gauge({
      name: 'verbatim_ledger_drift_accounts',
      help: 'Accounts whose balance is not the sum of their ledger; anything but 0 is a bug.',
      aggregator: 'max',
    }),
    ledgerChecked: gauge({
      name: 'verbatim_ledger_checked_timestamp_seconds',
      help: 'When all balances were last compared with their ledgers; 0 before the first time.',
      aggregator: 'max',
    }),
  };
}

/** What the HTTP server reports to. */
export function httpMetrics(metrics: Metrics) {
  return {
    requestEnded({
      route,
      method,
      status,
      seconds,
    }: {
      route: string;
      method: string;
      status: number;
      seconds: number;
    }) {
      metrics.requests.inc({ route, method, status });
      metrics.requestSeconds.observe({ route, method }, seconds);
    },
    rateRefused(bucket: string) {
      metrics.rateRefusals.inc({ bucket });
    },
    connectionClosed(closed: { which: string; limit: string }) {
      metrics.connectionsClosed.inc(closed);
    },
  };
}

/** What is told of each job that ended, by whoever ended it. */
export function jobMetrics(metrics: Metrics) {
  return {
    jobEnded({ state, errorType, plan, durationMs }: EndedJob) {
      metrics.jobs.inc({ outcome: state, error_type: errorType ?? '', plan });
      if (state === 'completed') metrics.audioSeconds.inc({ plan }, durationMs / 1000);
    },
  };
}

type EndedJob = { state: string; errorType: string | null; plan: string; durationMs: number };

/** This process's metrics, ours and those that every Node process has, plain enough to be sent to another process. */
export async function snapshotMetrics(metrics: Metrics): Promise<MetricsSnapshot> {
  const node = (await (await nodeMetrics()).getMetricsAsJSON()) as MetricSnapshot[];
  return [...node, ...Object.values(metrics).map((metric) => metric.snapshot())];
}

let registry: Promise<Registry> | undefined;

/** Memory, processor time, pauses: kept from the first time on that somebody asks. */
function nodeMetrics(): Promise<Registry> {
  return (registry ??= loadPrometheus().then(({ Registry, collectDefaultMetrics }) => {
    const register = new Registry();
    collectDefaultMetrics({ register });
    return register;
  }));
}

/** Only when metrics are wanted: with all that it pulls in, it would be a third of the start of a small process. */
async function loadPrometheus(): Promise<typeof import('prom-client')> {
  return (await import('prom-client')).default;
}

/** The metrics of all processes as one text, in the Prometheus exposition format. */
export async function mergeMetrics(snapshots: MetricsSnapshot[]): Promise<{ contentType: string; text: string }> {
  const { AggregatorRegistry } = await loadPrometheus();
  const merged = AggregatorRegistry.aggregate(snapshots);
  return { contentType: merged.contentType, text: await merged.metrics() };
}
