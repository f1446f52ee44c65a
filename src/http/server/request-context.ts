import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CallerAccount, CallerKey, CallerUser } from '../../accounts/account.ts';
import type { Log } from '../../platform/log.ts';
import { NO_TRACER, type Span, type Tracer } from '../../platform/tracing/tracer.ts';
import { readTraceparent, traceField } from '../../rules/network/traceparent.ts';
import { REQUEST_OVER } from '../call.ts';
import type { ClosedConnection } from '../connections/connections.ts';
import type { UnreadAnswers } from '../connections/unread-answers.ts';
import { problemOf } from '../errors.ts';
import type { IdempotencyLease } from '../idempotency/idempotency-lease.ts';
import type { Route } from '../route.ts';

/** Measurements that the server reports. */
export type HttpMetrics = {
  requestEnded(request: { route: string; method: string; status: number; seconds: number }): void;
  rateRefused(bucket: string): void;
  connectionClosed?(closed: ClosedConnection): void;
};

declare module 'fastify' {
  interface FastifyContextConfig {
    endpoint?: Route;
  }
  interface FastifyRequest {
    context: RequestContext;
  }
}

/** State of a request while it is served, also for its log line. */
export type RequestContext = {
  /** Milliseconds of the process's monotonic clock. */
  startedAt: number;
  account: CallerAccount | null;
  key: CallerKey | null;
  sessionId: string | null;
  user: CallerUser | null;
  /** As `Call` has it. */
  checkCaller: () => Promise<void>;
  /** The trace that the request belongs to (W3C Trace Context). */
  traceparent: string | null;
  span: Span | null;
  idempotency: IdempotencyLease | null;
  /** On routes with `keepsBodyText: true`. */
  bodyText: string;
  /** Further fields of the log line. */
  notes: Record<string, unknown>;
  failure: unknown;
  /** To be called when the answer is handed over: from then on the connection counts as idle. */
  answered: () => void;
  /** Counts the answer. Null: it is small. */
  unreadAnswers: UnreadAnswers | null;
  /** Bytes of the answer that are counted already. */
  reservedBytes: number;
};

/** The context of a request that starts now. */
export function newRequestContext(
  answered: () => void = () => undefined,
  unreadAnswers: UnreadAnswers | null = null,
): RequestContext {
  return {
    startedAt: performance.now(),
    account: null,
    key: null,
    sessionId: null,
    user: null,
    checkCaller: async () => undefined,
    traceparent: null,
    span: null,
    idempotency: null,
    bodyText: '',
    notes: {},
    failure: null,
    answered,
    unreadAnswers,
    reservedBytes: 0,
  };
}

// In the log and the metrics only: the status of nginx for a caller that hung up before it was answered.
const HUNG_UP = 499;
const SWITCHING_PROTOCOLS = 101;
const CONNECTION_ENDED = new Set(['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']);

const HEALTH_CHECKS = new Set(['/healthz', '/readyz', '/metrics']);

/** Continues the trace that the request belongs to, if it names one; with a tracer, by a span of its own. */
export function traceRequest(request: FastifyRequest, tracer: Tracer = NO_TRACER): void {
  const { context, method } = request;
  const route = request.routeOptions.config.endpoint?.path ?? 'unknown';
  context.traceparent = readTraceparent(request.headers['traceparent']);
  if (HEALTH_CHECKS.has(route)) return;
  context.span = tracer.start(`${method} ${route}`, {
    kind: 'server',
    parent: context.traceparent,
    attributes: { 'http.request.method': method, 'http.route': route, request_id: request.id },
  });
  context.traceparent = context.span.traceparent;
}

/** Logs and counts the request when its answer is sent or its caller has hung up. */
export function logEndOfRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, metrics }: { log: Log; metrics: HttpMetrics },
): void {
  reply.raw.once('close', () => {
    const { startedAt, account, key, sessionId, user, traceparent, span, notes, failure } = request.context;
    const route = request.routeOptions?.config?.endpoint?.path ?? 'unknown';
    const status = statusOf(reply);
    const durationMs = performance.now() - startedAt;
    metrics.requestEnded({ route, method: request.method, status, seconds: durationMs / 1000 });
    const isFailed = failure !== null && (status < 400 || (status === HUNG_UP && !isOfHangUp(failure)));
    const isFault = status >= 500 || isFailed;
    const ids = { job_id: notes['job_id'] as string | undefined, account_id: account?.id };
    span?.end({ 'http.response.status_code': status, ...ids }, isFault ? String(status) : null);
    const line = {
      request_id: request.id,
      ...traceField(traceparent),
      method: request.method,
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      ...(account && { account: account.id }),
      ...(key && { key_id: key.id }),
      ...(sessionId && { session_id: sessionId }),
      ...(user && { user: user.id }),
      ...(!reply.raw.writableFinished && { hung_up: true }),
      ...notes,
    };
    // Health checks come every second: at level info they would be most of the log.
    if (HEALTH_CHECKS.has(route)) log.debug(line, 'request');
    // A stream that failed has sent status 200 before.
    else if (status === 500 || isFailed) log.error({ ...line, error: describeFailure(failure) }, 'request failed');
    else if (status === 503) log.warn({ ...line, reason: (failure as Partial<Error> | null)?.message }, 'request');
    else log.info(line, 'request');
  });
}

/** Logs a failure that comes after the line of its request, as the caller had hung up. */
export function logLateFailure(request: FastifyRequest, failure: unknown, log: Log): void {
  if (isOfHangUp(failure)) return;
  const route = request.routeOptions?.config?.endpoint?.path ?? 'unknown';
  const line = { request_id: request.id, method: request.method, route, status: HUNG_UP, hung_up: true };
  log.error({ ...line, error: describeFailure(failure) }, 'request failed');
}

/** Of the answer; 499 where the caller hung up before its status was sent. */
function statusOf({ raw }: FastifyReply): number {
  return raw.headersSent || raw.statusCode === SWITCHING_PROTOCOLS ? raw.statusCode : HUNG_UP;
}

/** Whether a request failed as its caller hung up, or would have been answered with a refusal: nobody must look. */
function isOfHangUp(failure: unknown): boolean {
  const { code } = (failure ?? {}) as { code?: unknown };
  return failure === REQUEST_OVER || CONNECTION_ENDED.has(String(code)) || problemOf(failure).status !== 500;
}

/**
 * The fields of an error that help to find a bug. The others are left out:
 * PostgreSQL's `detail` quotes the row, with metadata.
 */
function describeFailure(failure: unknown): Record<string, unknown> {
  const { name, message, stack, code } = (failure ?? {}) as Partial<Error> & { code?: unknown };
  return { name, message, stack, code };
}
