import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { adminRoutes } from '../accounts/admin-api.ts';
import { accountRoutes } from '../accounts/api.ts';
import { openCallers } from '../accounts/callers.ts';
import { keyRoutes } from '../accounts/keys-api.ts';
import { openLimits } from '../accounts/limits.ts';
import { openStorage } from '../audio/open-storage.ts';
import type { AudioStorage } from '../audio/storage.ts';
import { deliveryRoutes } from '../deliveries/api.ts';
import { eventRoutes } from '../events/api.ts';
import { consoleRoutes } from '../http/console.ts';
import type { IdempotencyKeys } from '../http/idempotency.ts';
import { openIdempotencyKeys } from '../http/idempotency.ts';
import type { Route } from '../http/route.ts';
import { buildServer, closeServer } from '../http/server.ts';
import { serviceRoutes } from '../http/service-routes.ts';
import { jobRoutes } from '../jobs/api.ts';
import { openJobEndings } from '../jobs/endings.ts';
import { openJobFeed } from '../jobs/feed.ts';
import type { Metrics } from '../metrics.ts';
import { httpMetrics, jobMetrics, openMetrics, snapshotMetrics } from '../metrics.ts';
import { webhookRoutes } from '../webhooks/api.ts';
import { openSecretBox } from '../webhooks/secrets.ts';
import { askMetricsOfAll } from './all-metrics.ts';
import type { RoleContext, RunningRole } from './process.ts';
import { openReadiness } from './readiness.ts';
import { showProtections } from './sandbox.ts';

const NO_API: Api = { routes: [], close: async () => undefined };

// SIGTERM promises an end within 10 s: requests get most of it, the database and the process the rest.
const CLOSE_GRACE_MS = 6_000;
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

/** The HTTP server: the API where the node has that role, the operator's surface always. */
export async function start(context: RoleContext): Promise<RunningRole> {
  const { config, db, log } = context;
  const metrics = openMetrics();
  if (context.order.sandbox) showProtections(metrics.sandboxProtection, context.order.sandbox);
  const storage = await openStorage(config);
  const api = config.roles.includes('api') ? await openApi(context, storage, metrics) : NO_API;
  const readiness = openReadiness(context, storage);
  const app = buildServer({
    routes: [
      ...api.routes,
      ...(config.roles.includes('api') ? consoleRoutes() : []),
      ...serviceRoutes({ documented: api.routes, version, readiness, metricsText: askMetricsOfAll(context) }),
    ],
    auth: { adminToken: context.order.adminToken, findCaller: openCallers(db, log) },
    limits: openLimits(db, {
      transcribe: config.rateLimitTranscribe,
      balance: config.rateLimitBalance,
      jobs: config.rateLimitJobs,
      resend: config.rateLimitResend,
      default: config.rateLimitDefault,
    }),
    ...(api.idempotency && { idempotency: api.idempotency }),
    connections: { max: config.maxConnections, maxPerAddress: config.maxConnectionsPerAddress },
    log,
    metrics: httpMetrics(metrics),
  });
  await listen(context, app);
  const { address, port } = app.server.address() as AddressInfo;
  log.info({ address, port, api: config.roles.includes('api') }, 'listening');
  // The parent answers with the statuses of the others.
  context.report({ ready: true, reasons: [] });
  return {
    metrics: () => snapshotMetrics(metrics),
    async stop() {
      // Whoever waits for a job's end is answered 202 now: the transcriber hands the job back at this moment.
      await Promise.all([closeServer(app, CLOSE_GRACE_MS), api.close()]);
    },
  };
}

type Api = { routes: Route[]; idempotency?: IdempotencyKeys; close(): Promise<void> };

async function openApi(
  { config, order, db, log, clock }: RoleContext,
  storage: AudioStorage,
  metrics: Metrics,
): Promise<Api> {
  const rates = { lite: config.creditRateLite, pro: config.creditRatePro };
  const endings = await openJobEndings({ db, clock, log });
  const feed = await openJobFeed({ db, clock, log });
  const secretBox = openSecretBox(Buffer.from(order.secretsKeyBase64, 'base64'));
  const idempotency = openIdempotencyKeys({
    ...{ db, box: secretBox, log },
    maxKeysPerAccount: config.maxIdempotencyKeys,
  });
  const routes = [
    ...jobRoutes({
      ...{ db, config, storage, tools: { folder: config.toolsDir }, endings, feed, clock },
      metrics: jobMetrics(metrics),
    }),
    ...accountRoutes({ db, rates }),
    ...keyRoutes({ db }),
    ...webhookRoutes({ db, config, secretBox, clock }),
    ...deliveryRoutes({ db }),
    ...eventRoutes({ db }),
    ...adminRoutes({ db, rates }),
  ];
  return {
    ...{ routes, idempotency },
    async close() {
      idempotency.close();
      await Promise.all([endings.close(), feed.close()]);
    },
  };
}

async function listen({ config, fail }: RoleContext, app: ReturnType<typeof buildServer>): Promise<void> {
  try {
    await app.listen({ host: config.host, port: config.port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be listened on (${code})`;
    fail(`Port ${config.port} on ${config.host} ${why}. Set PORT and HOST.`);
    throw error;
  }
}
