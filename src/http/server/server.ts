import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import fastify from 'fastify';
import { makeId } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { clientOf } from '../../rules/network/client-address.ts';
import { ApiError } from '../api-error.ts';
import type { Auth, Limits } from '../authentication.ts';
import { authenticate, authenticateAdmin, limitRate, requireScope } from '../authentication.ts';
import { callOf, continueBody, endOf, followKey } from '../call.ts';
import type { ConnectionLimits } from '../connections/connections.ts';
import { Connections, logClosed } from '../connections/connections.ts';
import type { OpenStreams } from '../connections/open-streams.ts';
import { oneByOne } from '../connections/pipelining.ts';
import type { IdempotencyKeys } from '../idempotency/idempotency.ts';
import { fingerprintOf } from '../idempotency/idempotency.ts';
import type { Answer, Route } from '../route.ts';
import { WrongTokens } from '../wrong-tokens.ts';
import { answerProblem, sendAnswer, sendProblem } from './answer.ts';
import { parseJson, readBody } from './body.ts';
import { answerMalformed } from './malformed-requests.ts';
import { methodsAt } from './methods.ts';
import type { HttpMetrics } from './request-context.ts';
import { logEndOfRequest, newRequestContext } from './request-context.ts';
import { checkParams, readBodyOrNothing, readQuery, strictSchema } from './request-values.ts';
import type { SchemaError } from './validation-errors.ts';
import { describeInvalid } from './validation-errors.ts';
import { lazyValidators } from './validators.ts';

export type ServerOptions = {
  /** The table of endpoints; a node without the api role passes the service's own alone. */
  routes: Route[];
  auth: Auth;
  limits: Limits;
  log: Log;
  metrics: HttpMetrics;
  /** Without it the header Idempotency-Key means nothing. */
  idempotency?: IdempotencyKeys;
  /** Ends the streams of keys that end. Absent: they go on. */
  streams?: OpenStreams;
  /** Absent: none. */
  connections?: ConnectionLimits;
  /** Time for a JSON body to arrive. */
  bodyTimeoutMs?: number;
};

const BODY_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 20_000;
// For the whole of the largest upload over a slow line; a stalled one is ended much sooner by whoever reads it.
const REQUEST_TIMEOUT_MS = 6 * 3_600_000;
// Longer than the usual 60 s of a proxy, so that it is never we who close a connection that the proxy is about to use.
const KEEP_ALIVE_TIMEOUT_MS = 65_000;
const CONNECTIONS_CHECK_MS = 5_000;
const MAX_REQUESTS_PER_SOCKET = 10_000;
const MAX_HEADER_BYTES = 16 * 1024;
const MAX_PARAM_CHARS = 500;
const CLOSING_RETRY_SECONDS = '5';

/** The HTTP server over a table of routes. The caller listens, and ends it with `closeServer`. */
export function buildServer(options: ServerOptions): FastifyInstance {
  const { routes, log } = options;
  const app = openFastify(options);
  const connections = boundConnections(app, options);
  const wrongTokens = new WrongTokens();
  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onSend', async (_request, reply) => {
    // Else the connection would stay open, and the close wait for it.
    if (isClosing) reply.header('connection', 'close');
  });
  app.decorateRequest('context');
  app.addHook('onRequest', async (request, reply) => {
    request.context = newRequestContext(connections.requestStarted(request.raw.socket));
    logEndOfRequest(request, reply, options);
    if (isClosing) throw closing();
    const endpoint = checkHeaders(request);
    // Answered here, since what Fastify does next depends on the method: some of those that its parser knows are errors.
    if (!endpoint) return answerUnknown(request, reply, routes);
    await admitRequest(request, reply, endpoint, { ...options, wrongTokens });
  });
  app.setErrorHandler(async (error, request, reply) => {
    request.context.failure = error;
    return await settleAndSend(request, reply, answerProblem(request, error));
  });
  app.removeAllContentTypeParsers();
  addRoutes(app, options);
  answerMalformed(app.server, (status, requestId) => log.info({ request_id: requestId, status }, 'malformed request'));
  const handle = oneByOne(app.routing);
  app.server.removeAllListeners('request').on('request', handle);
  // Without these listeners Node says 100 before we know whether the body is wanted, or a bare 417.
  app.server.on('checkContinue', handle).on('checkExpectation', handle);
  return app;
}

function boundConnections(app: FastifyInstance, { connections, log, metrics }: ServerOptions): Connections {
  const limits = connections ?? { max: Number.POSITIVE_INFINITY, maxPerAddress: Number.POSITIVE_INFINITY };
  const report = logClosed(log);
  return new Connections(app.server, limits, (closed) => {
    metrics.connectionClosed?.(closed);
    report(closed);
  });
}

/** Fastify with every limit set, and with our words wherever it would use its own. */
function openFastify(options: ServerOptions): FastifyInstance {
  return fastify({
    logger: false,
    genReqId: () => makeId('req'),
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
    // A missing Host is refused by us, in our shape; see `admitRequest`.
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      requireHostHeader: false,
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
      sendProblem(request as FastifyRequest, reply as FastifyReply, error);
    },
  });
}

/**
 * Stops accepting, lets what is in flight finish, and answers 503 to new requests on open connections. What is still in
 * flight after `graceMs` is cut off.
 */
export async function closeServer(app: FastifyInstance, graceMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  await app.close();
  clearTimeout(cut);
}

/** The route that takes the request; undefined where there is none. @throws ApiError  400 for headers that no route takes */
function checkHeaders({ raw, routeOptions }: FastifyRequest): Route | undefined {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw new ApiError('invalid_request', 'The header Host is missing.', { param: 'Host' });
  }
  if (raw.headers.expect !== undefined && !/^100-continue$/i.test(raw.headers.expect)) {
    throw new ApiError('invalid_request', 'The only Expect that is understood is 100-continue.', { param: 'Expect' });
  }
  return routeOptions.config.endpoint;
}

/** In this order: who → how often → with which scope → once. The body is read only after all of them said yes. */
async function admitRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: Route,
  { wrongTokens, ...options }: ServerOptions & { wrongTokens: WrongTokens },
): Promise<void> {
  if (endpoint.auth === 'none') return;
  const client = clientOf(request.raw.socket.remoteAddress ?? '');
  if (endpoint.auth === 'admin') authenticateAdmin(request.raw.rawHeaders, options.auth, { client, wrongTokens });
  else await admitAccount(request, reply, endpoint, options);
  request.context.idempotency = (await options.idempotency?.acquire(request.raw, request.context.account)) ?? null;
}

async function admitAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: Route,
  options: ServerOptions,
): Promise<void> {
  const { account, key } = await authenticate(request.raw.rawHeaders, options.auth);
  Object.assign(request.context, { account, key });
  const bucket = endpoint.bucket ?? 'default';
  try {
    reply.headers(await limitRate(account, bucket, options.limits));
  } catch (error) {
    if (error instanceof ApiError && error.type === 'rate_limited') options.metrics.rateRefused(bucket);
    throw error;
  }
  if (endpoint.auth === 'key' && endpoint.scope !== 'any') requireScope(key, endpoint.scope);
}

function addRoutes(app: FastifyInstance, options: ServerOptions): void {
  const bodyTimeoutMs = options.bodyTimeoutMs ?? BODY_TIMEOUT_MS;
  app.register(async (scope) => {
    scope.addContentTypeParser('application/json', (_request: FastifyRequest, raw: IncomingMessage) =>
      readBody(raw, bodyTimeoutMs),
    );
    scope.addHook('preParsing', async (request, reply) => {
      refuseEncoded(request);
      continueBody(request, reply);
    });
    for (const endpoint of options.routes.filter((route) => !route.upload)) addRoute(scope, endpoint, options.streams);
  });
  app.register(async (scope) => {
    // An upload's handler reads the body itself, as it comes.
    scope.addContentTypeParser('*', async () => undefined);
    scope.addHook('preParsing', async (request) => refuseEncoded(request));
    for (const endpoint of options.routes.filter((route) => route.upload)) addRoute(scope, endpoint, options.streams);
  });
}

function addRoute(scope: FastifyInstance, endpoint: Route, streams: OpenStreams | undefined): void {
  const { method, path, schema } = endpoint;
  if (endpoint.auth === 'key' && endpoint.scope === undefined) throw new Error(`${method} ${path} declares no scope`);
  const querySchema = strictSchema(schema.query);
  scope.route({
    method,
    url: path,
    config: { endpoint },
    schema: {
      ...(schema.params && { params: schema.params }),
      querystring: querySchema,
      // An upload's fields come in its stream; their schema is for the reference only.
      ...(schema.body && !endpoint.upload && { body: strictSchema(schema.body) }),
    },
    preValidation: async (request, reply) => {
      const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const before = endpoint.upload ? null : request.context.idempotency?.identify(fingerprintOf(bytes));
      if (before?.kind === 'replay') return sendAnswer(request, reply, before.answer);
      checkParams(request.params as Record<string, string>);
      request.query = readQuery(request.query as Record<string, unknown>, querySchema);
      if (!endpoint.upload) request.body = readBodyOrNothing(parseJson(bytes), schema.body !== undefined);
    },
    handler: async (request, reply) => {
      const over = endOf(reply);
      const answer = await endpoint.handle(callOf(request, reply, over.signal));
      if (answer.stream) followKey(request, reply, { over, stream: answer.stream, streams });
      return await settleAndSend(request, reply, answer);
    },
  });
}

/** Ends the hold on the request's Idempotency-Key, then sends the answer. */
async function settleAndSend(request: FastifyRequest, reply: FastifyReply, answer: Answer): Promise<FastifyReply> {
  const isHeard = !reply.raw.destroyed;
  return sendAnswer(request, reply, (await request.context.idempotency?.end(answer, isHeard)) ?? answer);
}

function refuseEncoded(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Send the body without Content-Encoding.', {
      param: 'Content-Encoding',
    });
  }
}

/** No route took it: an unknown path, a known one with another method, or a question about its methods. */
function answerUnknown(request: FastifyRequest, reply: FastifyReply, routes: Route[]): FastifyReply {
  const methods = methodsAt(routes, request.raw.url ?? '');
  const allow = methods.join(', ');
  if (methods.length > 0 && request.method === 'OPTIONS') {
    return sendAnswer(request, reply, { status: 204, headers: { allow } } satisfies Answer);
  }
  const error =
    methods.length > 0
      ? new ApiError('method_not_allowed', `${request.method} is not offered here; use ${allow}.`, {
          headers: { allow },
        })
      : new ApiError('not_found', 'There is nothing at this path; GET /openapi.json lists what there is.');
  sendProblem(request, reply, error);
  return reply;
}

function closing(): ApiError {
  return new ApiError('unavailable', 'The service is shutting down; try again in a few seconds.', {
    headers: { 'retry-after': CLOSING_RETRY_SECONDS },
  });
}
