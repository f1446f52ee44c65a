import type { AddressInfo } from 'node:net';
import type { Actor } from '../../accounts/account.ts';
import { Callers } from '../../accounts/keys/callers.ts';
import { findEndedKey } from '../../accounts/keys/ended-key.ts';
import { findUsableKeys } from '../../accounts/keys/usable-keys.ts';
import { noWaysRoute } from '../../accounts/people/api/sign-in-routes.ts';
import { setupTokenOf } from '../../accounts/people/credentials/setup-token.ts';
import { hasUsers } from '../../accounts/people/user-store.ts';
import { publicPage } from '../../accounts/public-page.ts';
import { limitsOfBuckets, openLimits } from '../../accounts/rate-limits/limits.ts';
import { openStorage } from '../../audio/storage/open-storage.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import { type AuditEvent, recordEvent } from '../../audit/events.ts';
import { ADMIN_HOST } from '../../config/combinations.ts';
import { publicCommand } from '../../config/public-command.ts';
import { OpenStreams } from '../../http/connections/open-streams.ts';
import type { TlsListener } from '../../http/connections/tls-listener.ts';
import { type IdempotencyKeys, openIdempotencyKeys } from '../../http/idempotency/idempotency.ts';
import type { Route } from '../../http/route.ts';
import { buildServer, closeServer } from '../../http/server/server.ts';
import { consoleRoutes } from '../../http/service/console.ts';
import { isConsoleMissing, openConsole } from '../../http/service/console-files.ts';
import { operatorRoutes, serviceRoutes } from '../../http/service/service-routes.ts';
import { MessageBudgets } from '../../http/websocket/message-budgets.ts';
import { openAudioLinks } from '../../jobs/stored-audio/audio-link.ts';
import { openCompletionWaiter } from '../../jobs/stream/completion-waiter.ts';
import { openJobNotifications } from '../../jobs/stream/job-notifications.ts';
import { NodeReports } from '../../operator/node-reports.ts';
import { VERSION } from '../../platform/installation.ts';
import { httpMetrics, jobMetrics } from '../../platform/metrics.ts';
import { Slices } from '../../platform/slices.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { openAccountChanges } from '../../stream/changes.ts';
import { alertPayloads, eventPayloads } from '../../webhooks/event-payloads.ts';
import { openSecretBoxOf } from '../../webhooks/secrets/secrets.ts';
import { keepAddress } from '../data-directory.ts';
import { showProtections } from '../sandbox.ts';
import { adminApiRoutes, apiRoutes } from './api-routes.ts';
import { openLive } from './live.ts';
import { askMetricsOfAll } from './metrics-of-all.ts';
import { openReadiness } from './readiness.ts';
import type { RoleContext, RunningRole } from './role.ts';

const NO_API: Api = { routes: [], operator: [], close: async () => undefined };

/** The HTTP server: the API where the node has that role, the operator's surface always. */
export async function start(context: RoleContext): Promise<RunningRole> {
  const { config, metrics } = context;
  if (context.order.sandbox) showProtections(metrics.sandboxProtection, context.order.sandbox);
  const storage = await openStorage(config, context.order.storageId);
  const callers = new Callers(context);
  const api = config.roles.includes('api') ? await openApi(context, storage, callers) : NO_API;
  const readiness = openReadiness(context, storage);
  const operator = [...api.operator, ...operatorRoutes(readiness, askMetricsOfAll(context))];
  const common = { ...serverOptions(context, api, callers), metrics: httpMetrics(metrics) };
  const hasConsole = config.roles.includes('api');
  const loadConsole = openConsole();
  const withReference = (documented: Route[], framedBy: readonly string[] = []) => [
    ...documented,
    ...(hasConsole ? consoleRoutes(loadConsole, { framedBy, command: publicCommand(config.command) }) : []),
    ...serviceRoutes({
      documented,
      framedBy,
      events: [...eventPayloads, ...alertPayloads],
      version: VERSION,
      readiness,
    }),
  ];
  const isApart = config.adminPort !== null;
  const documented = [...api.routes, ...(isApart ? [] : operator)];
  const main = buildServer({ ...common, routes: withReference(documented, config.consoleFrameAncestors) });
  const apps = [main];
  // Before anything is served without TLS: files that cannot be used stop the start.
  const tls = await openTls(context, main);
  const port = await listen(context, main, { host: config.host, port: config.port, settings: 'PORT and HOST' });
  const setup = config.roles.includes('api') ? await setupFragment(context) : '';
  const consoles = [`${urlOf(config.host, port)}${setup && `${setup} (makes the first user)`}`];
  let operatorUrl = urlOf(config.host, port);
  if (config.adminPort !== null) {
    const admin = buildServer({
      ...common,
      routes: withReference([...operator, ...(hasConsole ? [noWaysRoute()] : [])]),
    });
    apps.push(admin);
    const host = config.adminHost ?? ADMIN_HOST;
    const adminPort = await listen(context, admin, {
      host,
      port: config.adminPort,
      settings: 'ADMIN_PORT and ADMIN_HOST',
    });
    operatorUrl = urlOf(host, adminPort);
    consoles.push(`for operators ${operatorUrl}`);
  }
  rememberAddress(context, { url: urlOf(config.host, port), operator_url: operatorUrl });
  if (tls !== null) consoles.push(`with TLS ${urlOf(config.host, await listenTls(context, tls), 'https')}`);
  const [nodeId] = context.order.holder.split('/') as [string];
  const node = { id: nodeId, version: VERSION, roles: config.roles };
  const reports = new NodeReports(context, node, readiness);
  // The parent answers with the statuses of the others.
  context.report({ ready: true, reasons: [], ...(hasConsole && { about: consoles.join(', ') }) });
  // In the background, so that the first visitor does not wait; a failure is told to each visitor.
  if (hasConsole && isConsoleMissing()) void loadConsole().catch(() => undefined);
  return {
    async measure() {
      api.measure?.();
      await readiness.measure();
    },
    async stop() {
      tls?.close();
      // Whoever waits for a job's end is answered 202 now: the transcriber hands the job back at this moment.
      await Promise.all([...apps.map((app) => closeServer(app, BOUNDS.requestsStopMs)), api.close(), reports.close()]);
    },
  };
}

/** A disk that is full must not stop the start. */
function rememberAddress({ config, log }: RoleContext, address: { url: string; operator_url: string }): void {
  try {
    keepAddress(config, address);
  } catch (error) {
    log.warn({ err: error }, 'commands on this machine need VERBATIM_URL: the address of the service was not written');
  }
}

/** What the console's address has in addition while the service has no users, so that its first visitor makes one. */
async function setupFragment({ config, db, order, log }: RoleContext): Promise<string> {
  try {
    if (await hasUsers(db)) return '';
  } catch (error) {
    log.warn({ err: error }, 'could not look whether there are users');
    return '';
  }
  const fragment = `#setup=${setupTokenOf(order.secretsKeysBase64)}`;
  log.info({ first_user: publicPage(config, fragment) }, 'no users yet: open the console here to make one');
  return fragment;
}

/** What the listeners of a node have in common. */
function serverOptions(
  { config, order, db, log, tracer }: RoleContext,
  { idempotency, streams }: Api,
  callers: Callers,
) {
  return {
    auth: {
      adminToken: order.adminToken,
      findCaller: (keyHash: Buffer) => callers.find(keyHash),
      findEndedKey: (keyHash: Buffer) => findEndedKey(db, keyHash),
      findCallerBySession: (tokenHash: Buffer) => callers.findBySession(tokenHash),
    },
    limits: openLimits(db, limitsOfBuckets(config)),
    ...(idempotency && { idempotency }),
    ...(streams && { streams }),
    recordEvent: (actor: Actor, event: AuditEvent) => recordEvent({ db, log }, actor, event),
    connections: { max: config.maxConnections, maxPerAddress: config.maxConnectionsPerAddress },
    corsAllowedOrigins: config.corsAllowedOrigins,
    trustedProxies: config.trustedProxies,
    log,
    tracer,
  };
}

type Api = {
  routes: Route[];
  operator: Route[];
  idempotency?: IdempotencyKeys;
  streams?: OpenStreams;
  measure?(): void;
  close(): Promise<void>;
};

async function openApi(context: RoleContext, storage: AudioStorage, callers: Callers): Promise<Api> {
  const { config, order, db, metrics } = context;
  const [completions, notifications, accountChanges] = await Promise.all([
    openCompletionWaiter(context),
    openJobNotifications(context),
    openAccountChanges(context),
  ]);
  const slices = new Slices();
  const live = openLive({ ...context, slices }, storage);
  const runtime = {
    ...context,
    host: live.host,
    budgets: new MessageBudgets(slices),
    limits: openLimits(db, limitsOfBuckets(config)),
    storage,
    tools: { folder: config.toolsDir },
    callers,
    secretsKeysBase64: order.secretsKeysBase64,
    secretBox: openSecretBoxOf(order.secretsKeysBase64),
    audioLinks: openAudioLinks(order.secretsKeysBase64),
    completions,
    notifications,
    accountChanges,
    version: VERSION,
    jobMetrics: jobMetrics(metrics),
  };
  const streams = new OpenStreams(context, (keys) => findUsableKeys(db, keys));
  const idempotency = openIdempotencyKeys(runtime);
  return {
    routes: apiRoutes(runtime),
    operator: adminApiRoutes(runtime),
    idempotency,
    streams,
    measure: () => live.measure(),
    async close() {
      await live.close();
      idempotency.close();
      await Promise.all([completions.close(), notifications.close(), accountChanges.close(), streams.close()]);
    },
  };
}

/** Where a browser of this machine finds the listener. */
function urlOf(host: string, port: number, scheme = 'http'): string {
  const name = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `${scheme}://${name.includes(':') ? `[${name}]` : name}:${port}/`;
}

type Place = { host: string; port: number; settings: string };

/** The listener with TLS beside the main one, which does not listen yet; null where no certificate is set. */
async function openTls(
  { config, clock, log, fail }: RoleContext,
  app: ReturnType<typeof buildServer>,
): Promise<TlsListener | null> {
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = config;
  if (certFile === null || keyFile === null) return null;
  const { TlsListener } = await import('../../http/connections/tls-listener.ts');
  try {
    return await TlsListener.open(app.server, { certFile, keyFile }, { clock, log });
  } catch (error) {
    fail(`TLS_CERT_FILE and TLS_KEY_FILE cannot be used: ${(error as Error).message}`);
    throw error;
  }
}

async function listenTls({ config, log, fail }: RoleContext, listener: TlsListener): Promise<number> {
  const { host, tlsPort } = config;
  try {
    const port = await listener.listen(addressOf(host), tlsPort);
    log.info({ port, tls: true }, 'listening');
    return port;
  } catch (error) {
    fail(`Port ${tlsPort} on ${host} ${whyNot(error)}. Set TLS_PORT.`);
    throw error;
  }
}

function whyNot(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be listened on (${code})`;
}

/** For the name Fastify opens a second server, which would be without our limits. */
function addressOf(host: string): string {
  return host === 'localhost' ? '127.0.0.1' : host;
}

async function listen(
  { config, fail, log }: RoleContext,
  app: ReturnType<typeof buildServer>,
  { host, port, settings }: Place,
): Promise<number> {
  try {
    await app.listen({ host: addressOf(host), port });
  } catch (error) {
    fail(`Port ${port} on ${host} ${whyNot(error)}. Set ${settings}.`);
    throw error;
  }
  // Without a listener, a connection that cannot be accepted would end the process.
  app.server.on('error', (error) => log.error({ err: error }, 'a connection could not be accepted'));
  const { address, port: opened } = app.server.address() as AddressInfo;
  log.info({ address, port: opened, api: config.roles.includes('api') }, 'listening');
  return opened;
}
