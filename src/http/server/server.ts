import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { makeId } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Tracer } from '../../platform/tracing/tracer.ts';
import { ApiError, unavailable } from '../api-error.ts';
import { AttemptLimit } from '../attempt-limit.ts';
import type { Auth, Limits } from '../authentication.ts';
import { type ConnectionLimits, Connections, logClosed } from '../connections/connections.ts';
import type { OpenStreams } from '../connections/open-streams.ts';
import { oneByOne } from '../connections/pipelining.ts';
import { UnreadAnswers, type UnreadLimits } from '../connections/unread-answers.ts';
import { asksForWebSocket, routeHandshakes } from '../handshakes/handshake.ts';
import type { IdempotencyKeys } from '../idempotency/idempotency.ts';
import type { Answer, Route } from '../route.ts';
import { admitRequest, checkHeaders } from './admission.ts';
import { answerProblem, sendAnswer, sendProblem } from './answer.ts';
import { allowOrigin, answerPreflight } from './cors.ts';
import { answerMalformed } from './malformed-requests.ts';
import { methodsAt } from './methods.ts';
import {
  type HttpMetrics,
  logEndOfRequest,
  logLateFailure,
  newRequestContext,
  traceRequest,
} from './request-context.ts';
import { addRoutes, endLeaseAndSend, type RecordEvent } from './routes.ts';
import { describeInvalid, type SchemaError } from './validation-errors.ts';
import { lazyValidators } from './validators.ts';

export type ServerOptions = {
  routes: Route[];
  auth: Auth;
  limits: Limits;
  log: Log;
  metrics: HttpMetrics;
  /** Absent: the header Idempotency-Key is ignored. */
  idempotency?: IdempotencyKeys;
  /** Ends the streams of keys that end. Absent: such streams go on. */
  streams?: OpenStreams;
  /** Absent: no events are recorded. */
  recordEvent?: RecordEvent;
  /** Absent: none. */
  connections?: ConnectionLimits;
  /** Of answers that clients have not read. Absent: 64 MiB for an account, 256 MiB in all. */
  unreadLimits?: UnreadLimits;
  /** Origins whose pages may call `/v1`. Absent: none. */
  corsAllowedOrigins?: readonly string[];
  /** Addresses and networks of proxies whose X-Forwarded-For names the client. Absent: none. */
  trustedProxies?: readonly string[];
  /** Absent: no spans. */
  tracer?: Tracer;
  /** Time for a JSON body to arrive. */
  bodyTimeoutMs?: number;
};

const BODY_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 20_000;
// For the largest upload over a slow line. The upload's handler ends a stalled upload much sooner.
const REQUEST_TIMEOUT_MS = 6 * 3_600_000;
// Longer than the usual 60 s of a proxy: a proxy must not send a request over a connection that is being closed.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CONNECTIONS_CHECK_MS = 5_000;
const MAX_REQUESTS_PER_SOCKET = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PARAM_CHARS = 500;
const MAX_SHOWN_PATH_CHARS = 200;
const CLOSING_RETRY_SECONDS = 5;

/** The HTTP server of a table of routes. The caller calls `listen`, and later `closeServer`. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { routes, log, corsAllowedOrigins = [], bodyTimeoutMs = BODY_TIMEOUT_MS } = options;
  const app = openFastify(options);
  const connections = limitConnections(app, options);
  const admission = { ...options, wrongTokens: new AttemptLimit() };
  const unreadAnswers = new UnreadAnswers(options.unreadLimits);
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    // An open connection would delay the close.
    if (isClosing) reply.header('connection', 'close');
  });
  app.decorateRequest('context');
  app.addHook('onRequest', async (request, reply) => {
    request.context = newRequestContext(connections.requestStarted(request.raw.socket), unreadAnswers);
    traceRequest(request, options.tracer);
    logEndOfRequest(request, reply, options);
    allowOrigin(request, reply, corsAllowedOrigins);
    if (isClosing) throw closing();
    const endpoint = checkHeaders(request);
    const preflight = answerPreflight(request, reply);
    if (preflight) return preflight;
    // Answered here because Fastify fails on some of the methods that Node's parser accepts.
    // The router takes a slash at the end for a parameter without a value.
    if (!endpoint || endsInSlash(request.raw.url ?? '', endpoint)) return answerUnknown(request, reply, routes);
    await admitRequest(request, reply, endpoint, admission);
  });
  app.setErrorHandler(async (error, request, reply) => {
    request.context.failure = error;
    if (reply.raw.closed) logLateFailure(request, error, log);
    return await endLeaseAndSend(request, reply, answerProblem(request, error));
  });
  app.removeAllContentTypeParsers();
  addRoutes(app, { ...options, bodyTimeoutMs });
  answerMalformed(app.server, {
    onRefused: (status, requestId) => log.info({ request_id: requestId, status }, 'malformed request'),
    refuseMethod: (method, url) => noEndpoint({ method, url }, routes),
  });
  const handle = oneByOne(app.routing);
  app.server.removeAllListeners('request').on('request', handle);
  // Without these listeners Node answers 100 before the request is admitted, or 417 without a body.
  routeHandshakes(app.server, app.routing);
  app.server.on('checkContinue', handle).on('checkExpectation', handle);
  return app;
}

function limitConnections(app: FastifyInstance, { connections, log, metrics }: ServerOptions): Connections {
  const limits = connections ?? { max: Number.POSITIVE_INFINITY, maxPerAddress: Number.POSITIVE_INFINITY };
  const logLine = logClosed(log);
  return new Connections(app.server, limits, (closed) => {
    metrics.connectionClosed?.(closed);
    logLine(closed);
  });
}

/** Fastify with every limit set, and with the service's error bodies. */
function openFastify(options: ServerOptions): FastifyInstance {
  return fastify({
    logger: false,
    genReqId: () => makeId('req'),
    requestIdHeader: false,
    trustProxy: options.trustedProxies?.length ? [...options.trustedProxies] : false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      // `checkHeaders` refuses a missing Host, with the service's error body.
      requireHostHeader: false,
      shouldUpgradeCallback: asksForWebSocket,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: CONNECTIONS_CHECK_MS,
    },
    routerOptions: { maxParamLength: MAX_PARAM_CHARS },
    schemaController: { compilersFactory: lazyValidators },
    ajv: {
      customOptions: { coerceTypes: false, removeAdditional: false, allErrors: false, verbose: true, strict: false },
    },
    schemaErrorFormatter: (errors, place) => describeInvalid(errors as SchemaError[], place),
    frameworkErrors: (error, request, reply) => {
      (request as FastifyRequest).context = newRequestContext();
      logEndOfRequest(request as FastifyRequest, reply as FastifyReply, options);
      allowOrigin(request as FastifyRequest, reply as FastifyReply, options.corsAllowedOrigins ?? []);
      if (answerPreflight(request as FastifyRequest, reply as FastifyReply)) return;
      sendProblem(request as FastifyRequest, reply as FastifyReply, error);
    },
  });
}

/**
 * Stops accepting connections, finishes the requests in flight, and answers 503 to new requests on open connections.
 * After `graceMs` the remaining connections are closed.
 */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  const timer = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(timer);
}

/** Answers a request without a route: OPTIONS with the methods of the path, else 404 or 405. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, routes: Route[]): FastifyReply {
  const methods = methodsAt(routes, request.raw.url ?? '');
  if (methods.length > 0 && request.method === 'OPTIONS') {
    return sendAnswer(request, reply, { status: 204, headers: { allow: methods.join(', ') } } satisfies Answer);
  }
  sendProblem(request, reply, noEndpoint({ method: request.method, url: request.raw.url ?? '' }, routes));
  return reply;
}

function noEndpoint({ method, url }: { method: string; url: string }, routes: Route[]): ApiError {
  const allow = methodsAt(routes, url).join(', ');
  if (allow !== '') {
    return new ApiError('method_not_allowed', `${method} is not offered here; use ${allow}.`, { headers: { allow } });
  }
  const meant = meantPath(url, routes);
  const advice = meant === null ? '; GET /openapi.json lists what there is.' : `. Did you mean ${meant}?`;
  return new ApiError('not_found', `There is nothing at this path${advice}`);
}

/** The path without what a base URL often adds or lacks: further slashes, and the version twice or not at all. */
function meantPath(url: string, routes: Route[]): string | null {
  const path = url.split(/[?#]/)[0]!.slice(0, MAX_SHOWN_PATH_CHARS);
  const plain = path.replace(/\/{2,}/g, '/').replace(/(.)\/$/, '$1');
  const candidates = [plain, plain.replace(/^(\/v1)+(?=\/v1\/)/, ''), `/v1${plain}`];
  return candidates.find((candidate) => candidate !== path && methodsAt(routes, candidate).length > 0) ?? null;
}

function endsInSlash(url: string, { path }: Route): boolean {
  return url.split(/[?#]/)[0]!.endsWith('/') && !path.endsWith('/');
}

function closing(): ApiError {
  return unavailable('The service is shutting down; try again in a few seconds.', CLOSING_RETRY_SECONDS);
}
