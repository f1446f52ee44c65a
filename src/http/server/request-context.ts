import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Log } from '../../platform/log.ts';
import type { ClosedConnection } from '../connections/connections.ts';
import type { Ticket } from '../idempotency/idempotency.ts';
import type { Account, Caller, Route } from '../route.ts';

/** What the server reports of each request that ended. */
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
    visit: Visit;
  }
}

/** What is gathered while a request is served, for its log line. */
export type Visit = {
  startedAt: number;
  account: Account | null;
  key: Caller['key'] | null;
  /** The hold on the request's Idempotency-Key. */
  ticket: Ticket | null;
  notes: Record<string, unknown>;
  failure: unknown;
  /** Called once the answer is handed over: from then on its connection is idle. */
  answered: () => void;
};

/** The start of a visit, now. */
export function newVisit(answered: () => void = () => undefined): Visit {
  return { startedAt: performance.now(), account: null, key: null, ticket: null, notes: {}, failure: null, answered };
}

const HEALTH_CHECKS = new Set(['/healthz', '/readyz', '/metrics']);

/** Writes the request's one log line and counts it, once its answer is out or its caller gone. */
export function watchEnd(
  request: FastifyRequest,
  reply: FastifyReply,
  { log, metrics }: { log: Log; metrics: HttpMetrics },
): void {
  reply.raw.once('close', () => {
    const { startedAt, account, key, notes, failure } = request.visit;
    const route = request.routeOptions?.config?.endpoint?.path ?? 'unknown';
    const status = reply.raw.statusCode;
    const durationMs = performance.now() - startedAt;
    metrics.requestEnded({ route, method: request.method, status, seconds: durationMs / 1000 });
    const line = {
      request_id: request.id,
      method: request.method,
      route,
      status,
      duration_ms: Math.round(durationMs * 10) / 10,
      ...(account && { account: account.id }),
      ...(key && { key_id: key.id }),
      ...(!reply.raw.writableFinished && { hung_up: true }),
      ...notes,
    };
    // A check every second would drown what happens, and its answer is for whoever asks.
    if (HEALTH_CHECKS.has(route)) log.debug(line, 'request');
    // A stream that broke off has sent its status before.
    else if (status === 500 || (failure && status < 400))
      log.error({ ...line, error: describeFailure(failure) }, 'request failed');
    else if (status === 503) log.warn({ ...line, reason: (failure as Partial<Error> | null)?.message }, 'request');
    else log.info(line, 'request');
  });
}

/** What a person needs to find a bug. Not the whole error: a database's details quote the row, with its metadata. */
function describeFailure(failure: unknown): Record<string, unknown> {
  const { name, message, stack, code } = (failure ?? {}) as Partial<Error> & { code?: unknown };
  return { name, message, stack, code };
}
