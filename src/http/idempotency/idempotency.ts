import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Account } from '../../accounts/account.ts';
import type { Database, Sql } from '../../db/database.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { evaluateKey, isIdempotencyKey } from '../../rules/idempotency.ts';
import { ApiError, rateLimited } from '../api-error.ts';
import { headerValues } from '../authentication.ts';
import { ANSWER_TTL_MS, IdempotencyLease, type IdempotencyRuntime, otherRequest } from './idempotency-lease.ts';
import { openKeyQuota } from './idempotency-quota.ts';
import type { KeyName, LeasedKey, LockedKey } from './idempotency-store.ts';
import * as store from './idempotency-store.ts';

export type IdempotencyKeys = {
  /**
   * Leases the request's key before its body is read; null for a request without one.
   * @param account  null for the operator
   * @throws ApiError  400 for a malformed key, 409 for one that is in use, 429 when the account has too many
   */
  acquire(request: IncomingMessage, account: Account | null): Promise<IdempotencyLease | null>;
  close(): void;
};

const HEADER = 'Idempotency-Key';
// A key that is deleted between the INSERT and the SELECT was released: the next attempt inserts it.
const MAX_ATTEMPTS = 5;
const QUOTA_RETRY_SECONDS = 60;

/** `leased` is null for an answered key: its answer is only read. `stored` is null for a new key. */
type Acquired = { leased: LeasedKey | null; stored: LockedKey | null };

/** Keys in the database, so that they hold across processes and crashes; leases are renewed while requests run. */
export function openIdempotencyKeys(runtime: IdempotencyRuntime): IdempotencyKeys {
  const { db, log, config } = runtime;
  const leases = new Set<LeasedKey>();
  const quota = openKeyQuota(config.maxIdempotencyKeys);
  const timer = setInterval(() => void renew(), BOUNDS.renewKeysEveryMs).unref();

  async function renew(): Promise<void> {
    if (leases.size === 0) return;
    await store.renewLeases(db, [...leases], BOUNDS.keyLeaseMs).catch((error: unknown) => {
      log.warn({ err: error }, 'could not renew idempotency keys');
    });
  }

  return {
    async acquire(request, account) {
      const key = readKey(request);
      if (key === null) return null;
      const name = { shard: account?.shard ?? 0, accountId: account?.id ?? 'admin', key };
      const route = routeHash(request);
      const isFull = account !== null && (await quota.isFull(db, name));
      const acquired = await acquireKey(db, name, { route, fullAt: isFull ? config.maxIdempotencyKeys : null });
      if (acquired.leased) leases.add(acquired.leased);
      return new IdempotencyLease(runtime, { name, route, ...acquired }, leases);
    },
    close: () => clearInterval(timer),
  };
}

/** SHA-256 of a body, in hex. */
export function fingerprintOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** @throws ApiError  400 */
function readKey(request: IncomingMessage): string | null {
  const [key, ...more] = headerValues(request.rawHeaders, 'idempotency-key');
  if (request.method !== 'POST' || key === undefined) return null;
  if (more.length === 0 && isIdempotencyKey(key)) return key;
  throw new ApiError('invalid_request', `${HEADER} must be one value of 1 to 255 printable ASCII characters.`, {
    param: HEADER,
  });
}

/** 128 bits of SHA-256 in hex: the URL itself may be 16 KiB long. */
function routeHash(request: IncomingMessage): string {
  return fingerprintOf(Buffer.from(`${request.method} ${request.url}`)).slice(0, 32);
}

/**
 * @param quota.fullAt  the account's quota, when it is used up; else null
 * @throws ApiError  409, or 429 for a new key then
 */
async function acquireKey(
  db: Database,
  name: KeyName,
  { route, fullAt }: { route: string; fullAt: number | null },
): Promise<Acquired> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const isNew =
      fullAt === null &&
      (await store.insertKey(db, name, { route, leaseMs: BOUNDS.keyLeaseMs, keepMs: ANSWER_TTL_MS }));
    if (isNew) return { leased: { ...name, lease: 1 }, stored: null };
    const acquired = await db.transaction((tx) => acquireUsedKey(tx, name, route));
    if (acquired) return acquired;
    if (fullAt !== null) throw tooManyKeys(fullAt);
  }
  throw inProgress();
}

/** Null when the key was deleted in the meantime. */
async function acquireUsedKey(tx: Sql, name: KeyName, route: string): Promise<Acquired | null> {
  const stored = await store.lockKey(tx, name);
  if (!stored) return null;
  const previous = { ...name, lease: stored.lease };
  const leased = { ...name, lease: stored.lease + 1 };
  switch (evaluateKey({ stored, route, fingerprint: null })) {
    case 'run':
      await store.restartKey(tx, previous, { route, leaseMs: BOUNDS.keyLeaseMs, keepMs: ANSWER_TTL_MS });
      return { leased, stored: null };
    case 'in_progress':
      throw inProgress();
    case 'read_body':
      if (stored.isAnswered) return { leased: null, stored };
      await store.takeOverKey(tx, previous, BOUNDS.keyLeaseMs);
      return { leased, stored };
    default:
      throw otherRequest();
  }
}

function tooManyKeys(maxKeys: number): ApiError {
  const message = `An account may use at most ${maxKeys} ${HEADER}s in 24 hours; send fewer of them.`;
  return rateLimited(message, QUOTA_RETRY_SECONDS);
}

function inProgress(): ApiError {
  return new ApiError('conflict', `A request with this ${HEADER} is still in progress; try again in a moment.`, {
    headers: { 'retry-after': '1' },
  });
}
