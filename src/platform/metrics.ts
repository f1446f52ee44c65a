import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { VERSION } from './installation.ts';

/** The metrics of one process, in the form in which they are sent to the process that serves /metrics. */
export type MetricsSnapshot = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

export type Metrics = ReturnType<typeof openMetrics>;

// Gauges with the suffix of a counter, which Prometheus' checks refuse; the same figures are there by type.
const MISNAMED = ['nodejs_active_resources_total', 'nodejs_active_handles_total', 'nodejs_active_requests_total'];
// Each sample wakes the process: the library's 10 ms took a third of the processor time of a service without work.
const EVENT_LOOP_SAMPLE_MS = 100;
const REQUEST_SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 300];
// Up to the 5 s that an attempt may take.
// Audio is written every 250 ms; a client waits when 10 s are not taken.
const LIVE_SECONDS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1, 2, 5, 10, 30, 60];
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 3, 4, 5, 6];

/**
 * The metrics of this process, with those of Node itself (memory, processor time, event loop). Each process has all of
 * them; `mergeMetrics` combines the processes: sums, or the greatest value where the aggregator is `max`.
 * Labels have bounded sets of values (routes, states), never what clients send.
 */
export function openMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS });
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  const registers = [registry];
  return {
    registry,
    ...http(registers),
    ...jobs(registers),
    ...live(registers),
    ...deliveries(registers),
    ...ledger(registers),
    ...database(registers),
  };
}

function http(registers: Registry[]) {
  return {
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
    connectionsClosed: new Counter({
      name: 'verbatim_connections_closed_total',
      help: 'Connections closed at MAX_CONNECTIONS (limit all) or MAX_CONNECTIONS_PER_ADDRESS (limit address).',
      labelNames: ['which', 'limit'],
      registers,
    }),
    notReady: new Gauge({
      name: 'verbatim_not_ready',
      help: 'What keeps the node from being ready, as /readyz tells: 1 where the part does not work, else 0.',
      labelNames: ['part'],
      aggregator: 'max',
      registers,
    }),
    sandboxProtection: new Gauge({
      name: 'verbatim_sandbox_protection',
      help: 'Isolation of audio decoders: 1 where the protection is active, 0 where the system does not allow it.',
      labelNames: ['protection'],
      aggregator: 'max',
      registers,
    }),
  };
}

function jobs(registers: Registry[]) {
  return {
    engineAwaySeconds: new Gauge({
      name: 'verbatim_engine_away_seconds',
      help: 'For how long the engine of a plan has not worked on this node; 0: it works.',
      labelNames: ['plan'],
      aggregator: 'max',
      registers,
    }),
    jobsWaiting: new Gauge({
      name: 'verbatim_jobs_waiting',
      help: 'Queued jobs by what they wait for beside their turn: engine, model, storage.',
      labelNames: ['reason'],
      aggregator: 'max',
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
    untranscribedSeconds: new Counter({
      name: 'verbatim_untranscribed_seconds_total',
      help: 'Seconds of detected speech for which the engine gave no text, as the warnings of ended jobs tell.',
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
    engineMessages: new Counter({
      name: 'verbatim_engine_messages_total',
      help: 'Calls during which an engine process wrote errors.',
      labelNames: ['engine'],
      registers,
    }),
    engineRestarts: new Counter({
      name: 'verbatim_engine_restarts_total',
      help: 'Engine processes that ended unexpectedly and were started again.',
      labelNames: ['engine'],
      registers,
    }),
  };
}

function live(registers: Registry[]) {
  return {
    liveSessions: new Gauge({
      name: 'verbatim_live_sessions',
      help: 'Live sessions whose clients are connected now.',
      registers,
    }),
    liveConnections: new Counter({
      name: 'verbatim_live_connections_total',
      help: 'Connections of clients to live sessions: the first one (new), or a later one (resumed).',
      labelNames: ['kind'],
      registers,
    }),
    liveCloses: new Counter({
      name: 'verbatim_live_closes_total',
      help: 'Connections of /v1/live that ended, by close code.',
      labelNames: ['code'],
      registers,
    }),
    liveAudioSeconds: new Counter({
      name: 'verbatim_live_audio_seconds_total',
      help: 'Seconds of audio that live sessions took.',
      labelNames: ['plan'],
      registers,
    }),
    liveAckSeconds: new Histogram({
      name: 'verbatim_live_ack_lag_seconds',
      help: 'From the arrival of live audio until it is durable and acknowledged.',
      buckets: LIVE_SECONDS,
      registers,
    }),
    liveBehindSeconds: new Gauge({
      name: 'verbatim_live_behind_seconds',
      help: 'Seconds of audio of the live session whose engine is furthest behind.',
      aggregator: 'max',
      registers,
    }),
  };
}

function deliveries(registers: Registry[]) {
  return {
    deliveriesPastDue: new Gauge({
      name: 'verbatim_deliveries_past_due',
      help: 'Attempts that are due and have not been started; retries that are not due yet do not count.',
      aggregator: 'max',
      registers,
    }),
    deliveriesOldestDueSeconds: new Gauge({
      name: 'verbatim_deliveries_oldest_due_age_seconds',
      help: 'How long the attempt that waits longest is due.',
      aggregator: 'max',
      registers,
    }),
    attemptsWithoutNameServers: new Counter({
      name: 'verbatim_attempts_without_name_servers_total',
      help: 'Attempts that were put off because the name servers of the machine do not answer.',
      registers,
    }),
    deliveriesFoundLate: new Counter({
      name: 'verbatim_deliveries_found_late_total',
      help: 'Webhooks with a due delivery that only the search each minute found, as its transaction committed very late.',
      registers,
    }),
    attempts: new Counter({
      name: 'verbatim_attempts_total',
      help: 'Delivery attempts that were recorded, and why they failed.',
      labelNames: ['outcome', 'reason'],
      registers,
    }),
    attemptSeconds: new Histogram({
      name: 'verbatim_attempt_duration_seconds',
      help: 'From the start of name resolution to the end of an attempt.',
      buckets: ATTEMPT_SECONDS,
      registers,
    }),
    webhookWarnings: new Counter({
      name: 'verbatim_webhook_failure_warnings_total',
      help: 'Webhooks whose consecutive failures reached 5, 7 or 9 of the 10 that disable them.',
      registers,
    }),
    webhooksDisabled: new Counter({
      name: 'verbatim_webhooks_disabled_total',
      help: 'Webhooks disabled for consecutive failures.',
      registers,
    }),
    deliveriesExhausted: new Counter({
      name: 'verbatim_deliveries_exhausted_total',
      help: 'Deliveries whose last attempt failed.',
      registers,
    }),
  };
}

function ledger(registers: Registry[]) {
  return {
    ledgerDrift: new Gauge({
      name: 'verbatim_ledger_drift_accounts',
      help: 'Accounts whose balance is not the sum of their ledger; anything but 0 is a bug.',
      aggregator: 'max',
      registers,
    }),
    ledgerChecked: new Gauge({
      name: 'verbatim_ledger_checked_timestamp_seconds',
      help: 'When all balances were last compared with their ledgers; 0 before the first time.',
      aggregator: 'max',
      registers,
    }),
  };
}

function database(registers: Registry[]) {
  return {
    buildInfo: buildInfo(registers),
    postgresVersion: new Gauge({
      name: 'verbatim_postgresql_info',
      help: 'Always 1; the label is the release of PostgreSQL that the janitor is connected to.',
      labelNames: ['version'],
      aggregator: 'max',
      registers,
    }),
  };
}

type EndedRequest = { route: string; method: string; status: number; seconds: number };

/** What the HTTP server reports. */
export function httpMetrics(metrics: Metrics) {
  return {
    requestEnded({ route, method, status, seconds }: EndedRequest) {
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

type EndedJob = {
  state: string;
  errorType: string | null;
  plan: string;
  durationMs: number | null;
  warnings: readonly { code: string; start?: number; end?: number }[];
};

/** What is reported of each job that ended. */
export function jobMetrics(metrics: Metrics) {
  return {
    jobEnded({ state, errorType, plan, durationMs, warnings }: EndedJob) {
      metrics.jobs.inc({ outcome: state, error_type: errorType ?? '', plan });
      if (state === 'completed') metrics.audioSeconds.inc({ plan }, (durationMs ?? 0) / 1000);
      for (const { code, start = 0, end = 0 } of warnings) {
        if (code === 'untranscribed') metrics.untranscribedSeconds.inc({ plan }, end - start);
      }
    },
  };
}

/** What is reported of live sessions. */
export function liveMetrics(metrics: Metrics) {
  return {
    liveConnected: (kind: 'new' | 'resumed') => metrics.liveConnections.inc({ kind }),
    liveClosed: (code: number) => metrics.liveCloses.inc({ code }),
    liveAcknowledged: (lagMs: number) => metrics.liveAckSeconds.observe(lagMs / 1000),
    /** @param audioMs  taken on one connection */
    liveTaken: (plan: string, audioMs: number) => metrics.liveAudioSeconds.inc({ plan }, audioMs / 1000),
  };
}

/** The current values, as plain objects that can be sent to another process. */
export async function snapshotMetrics({ registry }: Metrics): Promise<MetricsSnapshot> {
  return await registry.getMetricsAsJSON();
}

/** The metrics of all processes as one text, in the Prometheus exposition format. */
export async function mergeMetrics(snapshots: MetricsSnapshot[]): Promise<{ contentType: string; text: string }> {
  const merged = AggregatorRegistry.aggregate(snapshots);
  return { contentType: merged.contentType, text: await merged.metrics() };
}

/** The release of the service, which tells the nodes apart while they are replaced. */
function buildInfo(registers: Registry[]) {
  const gauge = new Gauge({
    name: 'verbatim_build_info',
    help: 'Always 1; the label is the release of the service.',
    labelNames: ['version'],
    aggregator: 'max',
    registers,
  });
  gauge.set({ version: VERSION }, 1);
  return gauge;
}
