import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../accounts/account.ts';
import { ApiError } from '../api-error.ts';
import { callOf, contentLengthOf, continueBody, endOf, followKey, isRawAudio } from '../call.ts';
import type { OpenStreams } from '../connections/open-streams.ts';
import { upgradeRequest } from '../handshakes/handshake.ts';
import { fingerprintOf } from '../idempotency/idempotency.ts';
import { withListCursors } from '../pagination.ts';
import type { Answer, Route } from '../route.ts';
import { sendAnswer } from './answer.ts';
import { parseJson, readBody } from './body.ts';
import { checkParams, checkQueryEncoding, readBodyOrNothing, readQuery, strictSchema } from './request-values.ts';

type RouteOptions = {
  routes: Route[];
  /** Ends the streams of keys that end. Absent: such streams go on. */
  streams?: OpenStreams;
  bodyTimeoutMs: number;
  /** Absent: no events are recorded. */
  recordEvent?: RecordEvent;
};

/** Writes what happened to the audit log and to the service's log. */
export type RecordEvent = (
  actor: Actor,
  event: {
    action: NonNullable<Route['event']> | 'list.exported' | 'admin_token.refused';
    accountId: string;
    targetId: string;
  },
) => Promise<void>;

/** Adds the routes to Fastify: bodies, validation, idempotency and handlers. */
export function addRoutes(app: FastifyInstance, { bodyTimeoutMs, ...options }: RouteOptions): void {
  const { routes } = options;
  app.register(async (scope) => {
    scope.addContentTypeParser('application/json', (_request: FastifyRequest, raw: IncomingMessage) =>
      readBody(raw, { contentLength: contentLengthOf(raw), timeoutMs: bodyTimeoutMs }),
    );
    scope.addHook('preParsing', async (request, reply) => {
      // Some clients name the type of a form with every POST: without a body it describes nothing.
      if (request.headers['content-length'] === '0') delete request.headers['content-type'];
      refuseEncoded(request);
      continueBody(request, reply);
    });
    for (const endpoint of routes.filter((route) => !route.upload)) addRoute(scope, endpoint, options);
  });
  app.register(async (scope) => {
    // The handler of an upload reads the body as a stream.
    scope.addContentTypeParser('*', async () => undefined);
    scope.addHook('preParsing', async (request) => refuseEncoded(request));
    for (const endpoint of routes.filter((route) => route.upload)) addRoute(scope, endpoint, options);
  });
}

function addRoute(
  scope: FastifyInstance,
  endpoint: Route,
  { streams, recordEvent }: Omit<RouteOptions, 'bodyTimeoutMs'>,
): void {
  const { method, path, schema } = endpoint;
  if (endpoint.auth === 'key' && endpoint.scope === undefined) throw new Error(`${method} ${path} declares no scope`);
  const querySchema = strictSchema(schema.query);
  const handle = withListCursors(endpoint);
  scope.route({
    method,
    url: path,
    config: { endpoint },
    schema: {
      ...(schema.params && { params: schema.params }),
      querystring: querySchema,
      // The handler of an upload checks the fields of the form; their schema is for the API reference only.
      ...(schema.body && !endpoint.upload && { body: strictSchema(schema.body) }),
    },
    preValidation: async (request, reply) => {
      const bytes = (request.body as Buffer | undefined) ?? Buffer.alloc(0);
      const before = endpoint.upload ? null : request.context.idempotency?.identify(fingerprintOfCall(request, bytes));
      if (before?.kind === 'replay') return sendAnswer(request, reply, before.answer);
      checkParams(request.params as Record<string, string>);
      checkQueryEncoding(request.raw.url ?? '');
      // The handler reads the fields of raw audio from the query.
      if (endpoint.takesRawAudio) refuseOtherMedia(request);
      request.query = isRawAudio(request) ? {} : readQuery(request.query as Record<string, unknown>, querySchema);
      if (endpoint.upload) return;
      request.body = readBodyOrNothing(parseJson(bytes, endpoint), schema.body !== undefined);
      if (endpoint.keepsBodyText) request.context.bodyText = bytes.toString();
    },
    handler: async (request, reply) => {
      const over = endOf(reply);
      const call = callOf(request, reply, over.signal);
      const answer = await handle(call);
      const event = recordEvent && eventOf(endpoint, request, answer);
      if (event) await recordEvent(call.actor, event);
      if (answer.upgrade) return upgradeRequest(request, reply, answer.upgrade);
      if (answer.stream) followKey(request, reply, { over, stream: answer.stream, streams });
      return await endLeaseAndSend(request, reply, answer);
    },
  });
}

/** What the audit log has of a request of an account that succeeded; null: nothing. */
function eventOf({ event }: Route, { context, params }: FastifyRequest, { status, contentType }: Answer) {
  const isExport = contentType?.startsWith('text/csv') ?? false;
  const action = isExport ? ('list.exported' as const) : event;
  if (action === undefined || status >= 300 || context.account === null) return null;
  const accountId = context.account.id;
  return { action, accountId, targetId: (params as { id?: string }).id ?? accountId };
}

/** Ends the lease of the request's Idempotency-Key, then sends the answer. */
export async function endLeaseAndSend(
  request: FastifyRequest,
  reply: FastifyReply,
  answer: Answer,
): Promise<FastifyReply> {
  const isConnected = !reply.raw.destroyed;
  return sendAnswer(request, reply, (await request.context.idempotency?.end(answer, isConnected)) ?? answer);
}

function fingerprintOfCall({ context, routeOptions }: FastifyRequest, body: Buffer): string {
  const key = routeOptions.config.endpoint?.replaysToSameKey ? context.key : null;
  return fingerprintOf(key ? Buffer.concat([Buffer.from(`${key.id} `), body]) : body);
}

/** Before the query is checked: only a body of audio has its fields there. */
function refuseOtherMedia({ headers }: FastifyRequest): void {
  if (/^(audio\/|multipart\/form-data|application\/json)/i.test(headers['content-type'] ?? '')) return;
  const message = 'Send the audio as multipart/form-data, or as the body with a Content-Type such as audio/mpeg.';
  throw new ApiError('unsupported_media_type', message, { param: 'Content-Type' });
}

function refuseEncoded(request: FastifyRequest): void {
  const encoding = request.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError('unsupported_media_type', 'Send the body without Content-Encoding.', {
      param: 'Content-Encoding',
    });
  }
}
