import { createHash, timingSafeEqual } from 'node:crypto';
import type { Account, Caller, CallerAccount, EndedKey, PermittedAccount } from '../accounts/account.ts';
import { canBeKey } from '../rules/accounts/api-key.ts';
import { permits, type Scope } from '../rules/accounts/scopes.ts';
import { isFromOwnPage } from '../rules/network/own-page.ts';
import { readSessionToken } from '../rules/network/session-cookie.ts';
import { ApiError, rateLimited, unauthenticated } from './api-error.ts';
import type { AttemptLimit } from './attempt-limit.ts';
import type { Bucket } from './route.ts';

const MAX_KEY_BYTES = 256;
const KEY_IN_QUERY = /[?&](x-)?(api[-_]?key|key|(access[-_]?)?token)=/i;

/** How requests are authenticated. */
export type Auth = {
  /** The owner of an API key; null for an unknown or expired key. @param keyHash  SHA-256 of the key */
  findCaller(keyHash: Buffer): Promise<Caller | null>;
  /**
   * What became of a key that has no owner; null for one that was never known. Absent: nothing is known of such keys.
   */
  findEndedKey?(keyHash: Buffer): Promise<EndedKey | null>;
  /** The same of a session; absent: there are none. @param tokenHash  SHA-256 of the cookie's value */
  findCallerBySession?(tokenHash: Buffer): Promise<Caller | null>;
  adminToken: string;
};

export type LimitState =
  | { kind: 'admitted'; limit: number; remaining: number; resetSeconds: number }
  | { kind: 'refused'; limit: number; windowSeconds: number; retryAfterSeconds: number };

/** Rate limits of accounts; `admit` resolves to null where there is no limit. */
export type Limits = { admit(account: Account, bucket: Bucket): Promise<LimitState | null> };

type Note = (fields: Record<string, unknown>) => void;

/** SHA-256 of a key or of a session's token. Both have 256 random bits, so that a slow hash is not needed. */
export function hashKey(key: string): Buffer {
  return createHash('sha256').update(key).digest();
}

/** `rawHeaders`: Node's list of names and values, because `headers` hides a second X-API-Key. */
type Request = { method: string; url: string; rawHeaders: string[] };

/**
 * The account and key of a request: by the key in its headers, or without one by the session that its cookie names.
 * @param note  gets fields for the log line of the request
 * @throws ApiError  401
 */
export async function authenticate(request: Request, auth: Omit<Auth, 'adminToken'>, note: Note): Promise<Caller> {
  const { rawHeaders } = request;
  const keys = [...headerValues(rawHeaders, 'x-api-key'), ...bearerTokens(rawHeaders)].filter((key) => key !== '');
  const token = keys.length === 0 ? readSessionToken(headerValues(rawHeaders, 'cookie')) : null;
  if (token !== null && auth.findCallerBySession)
    return await callerOfSession(request, token, auth.findCallerBySession);
  if (keys.length === 0) throw unauthenticated(adviceWithoutKey(request));
  const key = readKey(keys);
  const caller = canBeKey(key) ? await auth.findCaller(hashKey(key)) : null;
  return caller ?? (await refuseKey(key, auth, note));
}

/**
 * The log tells unknown, revoked and expired keys apart; whoever has an expired key is told of it.
 * @throws ApiError  401
 */
async function refuseKey(key: string, { findEndedKey }: Omit<Auth, 'adminToken'>, note: Note): Promise<never> {
  const ended = (canBeKey(key) && (await findEndedKey?.(hashKey(key)))) || null;
  note({
    refused_key: ended?.kind ?? 'unknown',
    ...(ended && { key_id: ended.keyId, account: ended.accountId, ended_at: ended.endedAt.toISOString() }),
  });
  if (ended?.kind !== 'expired') throw unauthenticated('This API key is unknown or was revoked; use another one.');
  throw unauthenticated(`This API key expired at ${ended.endedAt.toISOString()}; use another one.`);
}

/** Where a request without a key seems to have one. */
function adviceWithoutKey({ url, rawHeaders }: Request): string {
  if (headerValues(rawHeaders, 'authorization').length > 0) {
    return 'The header Authorization has no key that can be read. Write Authorization: Bearer <API_KEY>, or X-API-Key: <API_KEY>.';
  }
  if (KEY_IN_QUERY.test(url)) {
    return 'An API key is not read from the query, which stands in logs and histories. Send it in the header X-API-Key.';
  }
  return 'Send your API key in the header X-API-Key.';
}

/**
 * Browsers send the cookie with requests of other pages too. What changes something must name the session beside the
 * cookie, which other pages cannot know.
 * @throws ApiError  401
 */
async function callerOfSession(
  { method, rawHeaders }: Request,
  token: string,
  find: NonNullable<Auth['findCallerBySession']>,
): Promise<Caller> {
  const [site, origin, host, id] = ['sec-fetch-site', 'origin', 'host', 'x-session-id'].map(
    (name) => headerValues(rawHeaders, name)[0],
  );
  if (!isFromOwnPage(method, { site, origin, host })) {
    throw unauthenticated(
      'A session holds for pages of the service itself only. Elsewhere send an API key; a proxy must pass on the header Host.',
    );
  }
  const caller = await find(hashKey(token));
  if (!caller) throw unauthenticated('The session has ended; sign in again.');
  const isNamed = id === undefined ? ['GET', 'HEAD'].includes(method) : id === caller.sessionId;
  if (!isNamed) throw unauthenticated('X-Session-Id is not the session of this browser; load the page again.');
  return caller;
}

/**
 * The session of a user who is an operator, of a request without a token; else null.
 * @throws ApiError  401 for a session that does not hold for this request
 */
export async function findOperator(
  request: Request,
  { findCallerBySession }: Auth,
): Promise<Pick<Caller, 'sessionId' | 'user'> | null> {
  const token = readSessionToken(headerValues(request.rawHeaders, 'cookie'));
  if (token === null || !findCallerBySession || headerValues(request.rawHeaders, 'authorization').length > 0)
    return null;
  const { sessionId, user } = await callerOfSession(request, token, findCallerBySession);
  return user?.isOperator ? { sessionId, user } : null;
}

/** @throws ApiError  401 for a request with an API key */
export function requireSession(sessionId: string | null): void {
  if (sessionId === null) throw unauthenticated('This needs the cookie of a session; an API key has none.');
}

/** @throws ApiError  403 for a suspended account */
export function requireUnsuspended(account: CallerAccount): asserts account is PermittedAccount {
  if (!account.isSuspended) return;
  throw new ApiError('suspended', 'The account is suspended; ask the operator of the service.');
}

/** Whether the key has one of the scopes. */
export function hasScope(key: Caller['key'], scopes: Scope[]): boolean {
  return scopes.some((scope) => permits(key.scopes, scope));
}

/** @throws ApiError  403, unless the key has one of the scopes */
export function requireScope(key: Caller['key'], ...scopes: Scope[]): void {
  if (hasScope(key, scopes)) return;
  throw new ApiError('missing_scope', `This needs the scope ${scopes.join(' or ')}, which the API key does not have.`, {
    extra: { required_scope: scopes[0] },
  });
}

/**
 * Checks the operator's token, in constant time. It has 32 random characters or more: the right one passes, however
 * many wrong ones came from its address. A request without a token is a mistake, no guess.
 * @param client  the address whose wrong tokens are counted together
 * @throws ApiError  401 for a missing or wrong token, 429 for a wrong one after too many others
 */
export function authenticateAdmin(
  rawHeaders: string[],
  auth: Pick<Auth, 'adminToken'>,
  { client, wrongTokens }: { client: string; wrongTokens: AttemptLimit },
): void {
  const tokens = new Set(bearerTokens(rawHeaders));
  if (tokens.size > 0) {
    const [token] = tokens;
    if (tokens.size === 1 && timingSafeEqual(hashKey(token!), hashKey(auth.adminToken))) return;
    const retryAfterSeconds = wrongTokens.count(client);
    if (retryAfterSeconds !== null) throw tooManyWrongTokens(retryAfterSeconds);
  }
  throw unauthenticated("Send the operator's token as Authorization: Bearer <ADMIN_TOKEN>.");
}

function tooManyWrongTokens(retryAfterSeconds: number): ApiError {
  return rateLimited(`Too many wrong tokens; try again in ${retryAfterSeconds} s.`, retryAfterSeconds);
}

/**
 * Counts the request against its account's limit. Returns the RateLimit headers of the answer.
 * @throws ApiError  429
 */
export async function limitRate(account: Account, bucket: Bucket, limits: Limits): Promise<Record<string, string>> {
  const state = await limits.admit(account, bucket);
  if (!state) return {};
  if (state.kind === 'refused') throw tooManyRequests(bucket, state);
  return rateHeaders(state.limit, state.remaining, state.resetSeconds);
}

/** What a limit counts, in words. */
const LIMITED: Readonly<Record<Bucket, string>> = {
  transcribe: 'requests that transcribe',
  balance: 'requests for the balance',
  jobs: 'requests for the list of jobs',
  resend: 'requests that send events',
  live: 'new live sessions',
  default: 'other requests',
};

function tooManyRequests(bucket: Bucket, state: Extract<LimitState, { kind: 'refused' }>): ApiError {
  const { limit, windowSeconds, retryAfterSeconds } = state;
  const rule = `At most ${limit} ${LIMITED[bucket]} of an account pass in ${windowSeconds} s`;
  const message = `${rule} (RATE_LIMIT_${bucket.toUpperCase()}); try again in ${retryAfterSeconds} s.`;
  return rateLimited(message, retryAfterSeconds, rateHeaders(limit, 0, retryAfterSeconds));
}

function rateHeaders(limit: number, remaining: number, resetSeconds: number): Record<string, string> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  };
}

function readKey(given: string[]): string {
  const keys = new Set(given);
  if (keys.size > 1) throw unauthenticated('The request carries two different API keys; send one.');
  const [key] = keys;
  if (Buffer.byteLength(key!) > MAX_KEY_BYTES) throw unauthenticated(`An API key has at most ${MAX_KEY_BYTES} bytes.`);
  return key!;
}

function bearerTokens(rawHeaders: string[]): string[] {
  const values = headerValues(rawHeaders, 'authorization');
  return values.map((value) => /^bearer +(\S+)$/i.exec(value)?.[1] ?? '').filter((token) => token !== '');
}

/**
 * All values of a header.
 * @param rawHeaders  Node's list of names and values: `headers` joins them
 * @param name  in lower case
 */
export function headerValues(rawHeaders: string[], name: string): string[] {
  return rawHeaders
    .filter((_, i) => i % 2 === 1 && rawHeaders[i - 1]!.toLowerCase() === name)
    .map((value) => value.trim());
}
