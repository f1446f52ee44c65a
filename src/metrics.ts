import type { MetricObjectWithValues, MetricValue } from 'prom-client';
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

/** The metrics of one process, as they travel to the process that shows them. */
export type MetricsSnapshot = MetricObjectWithValues<MetricValue<string>>[];

export type Metrics = ReturnType<typeof openMetrics>;

const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300];
// Up to the 5 s that an attempt may take.
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6];

/**
 * Every metric there is, in a registry of its own. Each process has one; `mergeMetrics` adds them up. Gauges are set by
 * one process of a node at a time; where several do, sums add up and ages take the greatest.
 */
export function openMetrics() {
  const registers = [new Registry()];
  const registry = registers[0]!;
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requests: new Counter({
      name: 'verbatim_requests_total',
      help: 'HTTP requests that were answered.',
      labelNames: ['route', 'method', 'status'],
      registers,
    }),
    requestSeconds: new Histogram({
      name: 'verbatim_request_duration_seconds',
      help: 'From the headers of a request to the end of its answer.',
      labelNames: ['route', 'method'],
      buckets: REQUEST_SECONDS,
      registers,
    }),
    rateRefusals: new Counter({
      name: 'verbatim_rate_refusals_total',
      help: 'Requests refused with 429.',
      labelNames: ['bucket'],
      registers,
    }),
    jobs: new Counter({
      name: 'verbatim_jobs_total',
      help: 'Jobs that ended: completed, failed or canceled, and why they failed.',
      labelNames: ['outcome', 'error_type', 'plan'],
      registers,
    }),
    audioSeconds: new Counter({
      name: 'verbatim_audio_seconds_total',
      help: 'Seconds of audio transcribed.',
      labelNames: ['plan'],
      registers,
    }),
    jobsDue: new Gauge({
      name: 'verbatim_jobs_due',
      help: 'Jobs that wait for a transcriber now.',
      aggregator: 'max',
      registers,
    }),
    jobsOldestDueSeconds: new Gauge({
      name: 'verbatim_jobs_oldest_due_age_seconds',
      help: 'How long the longest waiting job is due.',
      aggregator: 'max',
      registers,
    }),
    deliveriesPastDue: new Gauge({
      name: 'verbatim_deliveries_past_due',
      help: 'Attempts whose time has come and that are not under way; healthy retries do not count.',
      aggregator: 'max',
      registers,
    }),
    deliveriesOldestDueSeconds: new Gauge({
      name: 'verbatim_deliveries_oldest_due_age_seconds',
      help: 'How long the attempt that waits longest is due.',
      aggregator: 'max',
      registers,
    }),
    attempts: new Counter({
      name: 'verbatim_attempts_total',
      help: 'Attempts to deliver that were recorded, and why they failed.',
      labelNames: ['outcome', 'reason'],
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'verbatim_attempt_duration_seconds',
      help: 'From the first byte of name resolution to the end of an attempt.',
      buckets: ATTEMPT_SECONDS,
      registers,
    }),
    webhookWarnings: new Counter({
      name: 'verbatim_webhook_failure_warnings_total',
      help: 'Webhooks whose streak of failures reached 5, 7 or 9 of the 10 that disable them.',
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'verbatim_webhooks_disabled_total',
      help: 'Webhooks disabled for consecutive failures.',
      registers,
    }),
    engineRestarts: new Counter({
      name: 'verbatim_engine_restarts_total',
      help: 'Engine processes that ended unasked and were started again.',
      labelNames: ['engine'],
      registers,
    }),
    ledgerDrift: new Gauge({
      name: 'verbatim_ledger_drift_accounts',
      help: 'Accounts whose balance is not the sum of their ledger; anything but 0 is a bug.',
      aggregator: 'max',
      registers,
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

/** This process's metrics, plain enough to be sent to another process. */
export async function snapshotMetrics(metrics: Metrics): Promise<MetricsSnapshot> {
  return (await metrics.registry.getMetricsAsJSON()) as MetricsSnapshot;
}

/** The metrics of all processes as one text, in the Prometheus exposition format. */
export async function mergeMetrics(snapshots: MetricsSnapshot[]): Promise<{ contentType: string; text: string }> {
  const merged = AggregatorRegistry.aggregate(snapshots);
  return { contentType: merged.contentType, text: await merged.metrics() };
}
