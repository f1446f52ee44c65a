import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Database, Sql } from '../../db/database.ts';
import type { Log } from '../../platform/log.ts';
import { evaluateKey, isIdempotencyKey, isKeptStatus } from '../../rules/idempotency.ts';
import { renderAnswer } from '../answer-text.ts';
import { ApiError } from '../api-error.ts';
import { headerValues } from '../authentication.ts';
import type { Account, Answer, Identified, Once } from '../route.ts';
import { openKeyQuota } from './idempotency-quota.ts';
import type { HeldKey, KeptAnswer, KeyName } from './idempotency-store.ts';
import * as store from './idempotency-store.ts';

/** Encrypts kept answers for the database; `name` binds the bytes to their key. */
export type AnswerBox = { seal(name: string, text: string): Buffer; open(name: string, sealed: Buffer): string };

export type IdempotencyDeps = {
  db: Database;
  box: AnswerBox;
  log: Log;
  /** Keys kept of one account before new ones are answered 429. */
  maxKeysPerAccount?: number;
};

/** The hold of one request on its key. */
export type Ticket = Once & {
  /**
   * Ends the hold once the request is over: keeps its answer where answers are kept. Returns what to send; never rejects.
   * @param isHeard  false when the caller hung up: a job that goes on is asked for again by a retry
   */
  settle(answer: Answer, isHeard: boolean): Promise<Answer>;
};

export type IdempotencyKeys = {
  /**
   * Takes the request's key before its body is read; null for a request without one.
   * @param account  null for the operator
   * @throws ApiError  400 for a malformed key, 409 for one that is in use, 429 when the account has too many
   */
  take(request: IncomingMessage, account: Account | null): Promise<Ticket | null>;
  close(): void;
};

const HEADER = 'Idempotency-Key';
const KEEP_MS = 24 * 3_600_000;
// A process that died blocks its keys no longer than this; three beats may be lost before a living one loses them.
const LEASE_MS = 30_000;
const BEAT_MS = 7_500;
// A larger answer that shows a job is not kept: it is written anew from the job. Every 202 fits.
const MAX_KEPT_JOB_ANSWER_BYTES = 16 * 1024;
// A key that goes between the two looks at it was given back: the next look takes it.
const MAX_LOOKS = 5;
const FULL_RETRY_SECONDS = 60;
const DEFAULT_MAX_KEYS = 100_000;

type Found = { held: HeldKey | null; stored: Awaited<ReturnType<typeof store.lockKey>> };

/** Keys in the database, so that they hold across processes and crashes; leases are renewed while requests run. */
export function openIdempotencyKeys({
  db,
  box,
  log,
  maxKeysPerAccount = DEFAULT_MAX_KEYS,
}: IdempotencyDeps): IdempotencyKeys {
  const held = new Set<HeldKey>();
  const quota = openKeyQuota(maxKeysPerAccount);
  const beat = setInterval(() => void renew(), BEAT_MS).unref();

  async function renew(): Promise<void> {
    if (held.size === 0) return;
    await store.renewKeys(db, [...held], LEASE_MS).catch((error: unknown) => {
      log.warn({ err: error }, 'could not renew idempotency keys');
    });
  }

  return {
    async take(request, account) {
      const key = readKey(request);
      if (key === null) return null;
      const name = { shard: account?.shard ?? 0, accountId: account?.id ?? 'admin', key };
      const route = routeOf(request);
      const isFull = account !== null && (await quota.isFull(db, name));
      const found = await takeKey(db, name, { route, isFull });
      if (found.held) held.add(found.held);
      return openTicket({ db, box, log }, { name, route, ...found }, held);
    },
    close: () => clearInterval(beat),
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
function routeOf(request: IncomingMessage): string {
  return fingerprintOf(Buffer.from(`${request.method} ${request.url}`)).slice(0, 32);
}

/** @throws ApiError  409, or 429 for a new key when no more are kept */
async function takeKey(
  db: Database,
  name: KeyName,
  { route, isFull }: Pick<Hold, 'route'> & { isFull: boolean },
): Promise<Found> {
  const times = { leaseMs: LEASE_MS, keepMs: KEEP_MS };
  for (let look = 0; look < MAX_LOOKS; look++) {
    const isNew = !isFull && (await store.insertKey(db, name, { route, ...times }));
    if (isNew) return { held: { ...name, lease: 1 }, stored: null };
    const found = await db.transaction((tx) => takeUsedKey(tx, name, route));
    if (found) return found;
    if (isFull) throw tooManyKeys();
  }
  throw inProgress();
}

/** Null when the key is gone meanwhile. */
async function takeUsedKey(tx: Sql, name: KeyName, route: string): Promise<Found | null> {
  const stored = await store.lockKey(tx, name);
  if (!stored) return null;
  const held = { ...name, lease: stored.lease };
  const taken = { ...name, lease: stored.lease + 1 };
  switch (evaluateKey({ stored, route, fingerprint: null })) {
    case 'run':
      await store.takeKeyAnew(tx, held, { route, leaseMs: LEASE_MS, keepMs: KEEP_MS });
      return { held: taken, stored: null };
    case 'in_progress':
      throw inProgress();
    case 'read_body':
      if (stored.isAnswered) return { held: null, stored };
      await store.takeKeyOver(tx, held, LEASE_MS);
      return { held: taken, stored };
    default:
      throw conflict();
  }
}

type Hold = Found & { name: KeyName; route: string };

function openTicket({ db, box, log }: IdempotencyDeps, { name, route, held, stored }: Hold, all: Set<HeldKey>): Ticket {
  const boxName = `${name.accountId} ${name.key}`;
  let fingerprint: string | null = null;
  let isBound = false;
  let kept: Answer | null = null;

  /** @param maxBytes  of a larger body nothing but its job is kept */
  async function keep(sql: Sql, answer: Answer, maxBytes: number): Promise<Answer> {
    const text = renderAnswer(answer);
    const isSmall = text !== null && Buffer.byteLength(text.body) <= maxBytes;
    const { location = null } = answer.headers ?? {};
    const isStillHeld = await store.keepAnswer(sql, held!, {
      status: answer.status,
      contentType: text?.contentType ?? null,
      location,
      body: isSmall ? box.seal(boxName, text.body) : null,
      fingerprint: fingerprint!,
      keepMs: KEEP_MS,
    });
    if (!isStillHeld) throw lost();
    return { ...answer, ...text };
  }

  /** Whether a retry is to be given this answer, and not to try for itself. */
  function isToKeep(answer: Answer, isHeard: boolean): boolean {
    return fingerprint !== null && isKeptStatus(answer.status) && (isHeard || !isBound);
  }

  return {
    isRepeat: stored !== null,
    identify(given): Identified {
      const verdict = evaluateKey({ stored, route, fingerprint: given });
      if (verdict === 'conflict') throw conflict();
      const answer = stored?.answer;
      if (verdict === 'replay' && answer && !isWrittenAnew(stored)) {
        return { kind: 'replay', answer: replayOf(answer, stored.jobId, (body) => box.open(boxName, body)) };
      }
      fingerprint = given;
      if (verdict !== 'resume' && verdict !== 'replay') return { kind: 'first' };
      isBound = true;
      return { kind: 'resume', jobId: stored!.jobId! };
    },
    async bind(tx, jobId) {
      if (!held) throw unreadable(stored?.jobId ?? null);
      if (!(await store.bindKey(tx, held, { jobId, fingerprint: fingerprint! }))) throw lost();
      isBound = true;
    },
    async keep<Kept extends Answer>(tx: Sql, answer: Kept) {
      kept = await keep(tx, answer, Number.POSITIVE_INFINITY);
      // The body is text now, which says the same.
      return kept as Kept;
    },
    async settle(answer, isHeard) {
      if (!held) return isWrittenAnew(stored) && answer.status === stored.answer.status ? asReplay(answer) : answer;
      try {
        if (answer === kept) return answer;
        const maxBytes = isBound ? MAX_KEPT_JOB_ANSWER_BYTES : Number.POSITIVE_INFINITY;
        if (isToKeep(answer, isHeard)) return await keep(db, answer, maxBytes);
        await db.transaction((tx) => store.letKeyGo(tx, held));
      } catch (error) {
        // The lease ends by itself; what was committed says what a retry is given.
        log.warn({ err: error }, 'an idempotency key is left to its lease');
      } finally {
        all.delete(held);
      }
      return answer;
    },
  };
}

/** Whether the kept answer was too large to keep its body: it is written again from its job. */
function isWrittenAnew(stored: Found['stored']): stored is NonNullable<Found['stored']> & { answer: KeptAnswer } {
  return stored?.answer?.contentType != null && stored.answer.body === null;
}

function asReplay(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
}

/** @throws ApiError  409 when SECRETS_KEY is no longer the one that sealed it: the work is done and not to be done twice */
function replayOf(answer: KeptAnswer, jobId: string | null, open: (body: Buffer) => string): Answer {
  return asReplay({
    status: answer.status,
    ...(answer.body && { body: openKept(answer.body, jobId, open) }),
    ...(answer.contentType && { contentType: answer.contentType }),
    ...(answer.location && { headers: { location: answer.location } }),
  });
}

function openKept(body: Buffer, jobId: string | null, open: (body: Buffer) => string): string {
  try {
    return open(body);
  } catch (cause) {
    throw unreadable(jobId, cause);
  }
}

function unreadable(jobId: string | null, cause?: unknown): ApiError {
  const what = jobId === null ? 'look for what it made' : `read the job ${jobId}`;
  const message = `The request with this ${HEADER} was carried out, but its answer can no longer be opened; ${what}.`;
  return new ApiError('conflict', message, { cause, ...(jobId !== null && { extra: { job_id: jobId } }) });
}

function tooManyKeys(): ApiError {
  return new ApiError('rate_limited', `Too many ${HEADER}s were used in the last 24 hours; send fewer of them.`, {
    headers: { 'retry-after': String(FULL_RETRY_SECONDS) },
    extra: { retry_after: FULL_RETRY_SECONDS },
  });
}

function inProgress(): ApiError {
  return new ApiError('conflict', `A request with this ${HEADER} is still in progress; try again in a moment.`, {
    headers: { 'retry-after': '1' },
  });
}

function conflict(): ApiError {
  return new ApiError('conflict', `This ${HEADER} was used for another request; use a new one.`);
}

function lost(): ApiError {
  return new ApiError('conflict', `Another request has taken over this ${HEADER}; try again to read its answer.`);
}
