import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../../accounts/account.ts';
import type { Scope } from '../../rules/accounts/scopes.ts';
import { guesserOf } from '../../rules/network/client-address.ts';
import { ApiError } from '../api-error.ts';
import type { AttemptLimit } from '../attempt-limit.ts';
import {
  type Auth,
  authenticate,
  authenticateAdmin,
  findOperator,
  hasScope,
  type Limits,
  limitRate,
  requireScope,
  requireSession,
  requireUnsuspended,
} from '../authentication.ts';
import { actorOf, addressOf } from '../call.ts';
import type { IdempotencyKeys } from '../idempotency/idempotency.ts';
import type { Route } from '../route.ts';
import type { HttpMetrics } from './request-context.ts';
import type { RecordEvent } from './routes.ts';

/** What requests are admitted by. */
type Admission = {
  auth: Auth;
  limits: Limits;
  metrics: HttpMetrics;
  wrongTokens: AttemptLimit;
  idempotency?: IdempotencyKeys;
  recordEvent?: RecordEvent;
};

/** The route of the request; undefined where there is none. @throws ApiError  400 for headers that no route accepts */
export function checkHeaders({ raw, routeOptions }: FastifyRequest): Route | undefined {
  if (raw.httpVersion === '1.1' && raw.headers.host === undefined) {
    throw new ApiError('invalid_request', 'The header Host is missing.', { param: 'Host' });
  }
  if (raw.headers.expect !== undefined && !/^100-continue$/i.test(raw.headers.expect)) {
    throw new ApiError('invalid_request', 'The only Expect that is understood is 100-continue.', { param: 'Expect' });
  }
  return routeOptions.config.endpoint;
}

/**
 * Checks authentication, rate limit, scope and Idempotency-Key, in this order and before the body is read. Stores the
 * results in the request's context.
 * @throws ApiError  400, 401, 403, 409 or 429
 */
export async function admitRequest(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: Route,
  admission: Admission,
): Promise<void> {
  if (endpoint.auth === 'none') return;
  const { idempotency } = admission;
  if (endpoint.auth === 'admin') await admitOperator(request, admission);
  else await admitAccount(request, reply, endpoint, admission);
  request.context.idempotency = (await idempotency?.acquire(request.raw, request.context.account)) ?? null;
}

/** By the operator's token, or without one by the session of a user who is an operator. */
async function admitOperator(request: FastifyRequest, { auth, wrongTokens, recordEvent }: Admission): Promise<void> {
  const { raw, context } = request;
  const { method, url, rawHeaders, headers } = raw;
  const operator = await findOperator({ method: method!, url: url!, rawHeaders }, auth);
  if (operator) return void Object.assign(context, operator);
  try {
    authenticateAdmin(rawHeaders, auth, { client: guesserOf(addressOf(request)), wrongTokens });
  } catch (error) {
    const isWrong =
      headers.authorization !== undefined && error instanceof ApiError && error.type === 'unauthenticated';
    if (isWrong) await recordEvent?.(actorOf(request), { action: 'admin_token.refused', accountId: '', targetId: '' });
    throw error;
  }
}

async function admitAccount(
  request: FastifyRequest,
  reply: FastifyReply,
  endpoint: Route,
  { auth, limits, metrics }: Admission,
): Promise<void> {
  const { account, key, sessionId } = Object.assign(request.context, await authenticateRequest(request, auth));
  request.context.checkCaller = () => checkCaller(request, endpoint, auth);
  if (endpoint.auth === 'session') requireSession(sessionId);
  if (!endpoint.isForSuspended) requireUnsuspended(account);
  const scopes = scopesOf(endpoint);
  const isPermitted = scopes === null || hasScope(key, scopes);
  // A request without the scope counts as one of the others: it takes nothing from the keys that have it.
  const bucket = (isPermitted && endpoint.bucket) || 'default';
  try {
    reply.headers(await limitRate(account, bucket, limits));
  } catch (error) {
    if (error instanceof ApiError && error.type === 'rate_limited') metrics.rateRefused(bucket);
    throw error;
  }
  if (scopes !== null) requireScope(key, ...scopes);
}

/** Authenticates the request anew, as it is done for one that arrives now. @throws ApiError  401 or 403 */
async function checkCaller(request: FastifyRequest, endpoint: Route, auth: Auth): Promise<void> {
  const { account, key } = await authenticateRequest(request, auth);
  requireUnsuspended(account);
  const scopes = scopesOf(endpoint);
  if (scopes !== null) requireScope(key, ...scopes);
}

function authenticateRequest({ raw, context }: FastifyRequest, auth: Auth): Promise<Caller> {
  const { method, url, rawHeaders } = raw;
  return authenticate({ method: method!, url: url!, rawHeaders }, auth, (fields) =>
    Object.assign(context.notes, fields),
  );
}

/** The scopes of which the key must have one; null: it needs none. */
function scopesOf(endpoint: Route): Scope[] | null {
  return endpoint.auth === 'key' && endpoint.scope !== 'any' ? [endpoint.scope].flat() : null;
}
