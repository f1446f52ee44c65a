import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { evaluateKey, isKeptStatus } from '../../rules/idempotency.ts';
import { renderAnswer } from '../answer-text.ts';
import { ApiError } from '../api-error.ts';
import type { Answer, IdempotencyHandle, Identified } from '../route.ts';
import type { KeyName, LeasedKey, LockedKey, SavedAnswer } from './idempotency-store.ts';
import * as store from './idempotency-store.ts';

/** How long an answer can be replayed. */
export const ANSWER_TTL_MS = 24 * 3_600_000;
// A larger answer that shows a job is saved without its body, which is written again from the job. Every 202 fits.
const MAX_SAVED_JOB_ANSWER_BYTES = 16 * 1024;

/** Encrypts saved answers for the database; `name` binds the ciphertext to its key. */
export type AnswerBox = { seal(name: string, text: string): Buffer; open(name: string, sealed: Buffer): string };

/** What Idempotency-Keys run on. */
export type IdempotencyRuntime = Runtime & { secretBox: AnswerBox };

type LeaseState = {
  name: KeyName;
  /** Hash of the request's method and URL. */
  route: string;
  /** Null when the key has an answer already. */
  leased: LeasedKey | null;
  /** Null for a new key. */
  stored: LockedKey | null;
};

/** One request's lease on its Idempotency-Key, from the headers to the end of the request. */
export class IdempotencyLease implements IdempotencyHandle {
  readonly hasKey = true;
  readonly isRepeat: boolean;
  readonly #runtime: IdempotencyRuntime;
  readonly #state: LeaseState;
  readonly #leases: Set<LeasedKey>;
  #fingerprint: string | null = null;
  #hasJob = false;
  #saved: Answer | null = null;

  /** @param leases  the process's leases, which are renewed; this one is removed from them at the end */
  constructor(runtime: IdempotencyRuntime, state: LeaseState, leases: Set<LeasedKey>) {
    this.#runtime = runtime;
    this.#state = state;
    this.#leases = leases;
    this.isRepeat = state.stored !== null;
  }

  identify(fingerprint: string): Identified {
    const { stored, route } = this.#state;
    const verdict = evaluateKey({ stored, route, fingerprint });
    if (verdict === 'conflict') throw otherRequest();
    if (verdict === 'replay' && isErased(stored)) throw erased(stored.jobId);
    if (verdict === 'replay' && stored?.answer && !lacksBody(stored)) {
      return { kind: 'replay', answer: this.#openAnswer(stored.answer, stored.jobId) };
    }
    this.#fingerprint = fingerprint;
    if (verdict !== 'resume' && verdict !== 'replay') return { kind: 'first' };
    this.#hasJob = true;
    return { kind: 'resume', jobId: stored!.jobId! };
  }

  async bindJob(tx: Sql, jobId: string): Promise<void> {
    const { leased, stored } = this.#state;
    if (!leased) throw unreadable(stored?.jobId ?? null);
    if (!(await store.setJob(tx, leased, { jobId, fingerprint: this.#fingerprint! }))) throw lost();
    this.#hasJob = true;
  }

  async saveAnswer<Saved extends Answer>(tx: Sql, answer: Saved): Promise<Saved> {
    this.#saved = await this.#save(tx, answer, Number.POSITIVE_INFINITY);
    // The body is its JSON text now.
    return this.#saved as Saved;
  }

  /**
   * Ends the lease after the handler: saves the answer if it is one to replay, else releases the key. Returns the
   * answer to send; never rejects.
   * @param isConnected  false when the caller hung up: its retry then follows the job instead of getting this answer
   */
  async end(answer: Answer, isConnected: boolean): Promise<Answer> {
    const { leased, stored } = this.#state;
    if (!leased) return lacksBody(stored) && answer.status === stored.answer.status ? asReplay(answer) : answer;
    try {
      if (answer === this.#saved) return answer;
      const isKept = isKeptStatus(answer.status) && (isConnected || !this.#hasJob);
      // A stream cannot be saved: a repeated request streams the job again.
      const isToSave = this.#fingerprint !== null && isKept && !answer.stream;
      const maxBytes = this.#hasJob ? MAX_SAVED_JOB_ANSWER_BYTES : Number.POSITIVE_INFINITY;
      if (isToSave) return await this.#save(this.#runtime.db, answer, maxBytes);
      await this.#runtime.db.transaction((tx) => store.releaseKey(tx, leased));
    } catch (error) {
      // The lease expires by itself; what was committed decides the answer to a retry.
      this.#runtime.log.warn({ err: error }, 'could not end the lease of an idempotency key; it expires by itself');
    } finally {
      this.#leases.delete(leased);
    }
    return answer;
  }

  /** @param maxBytes  a larger body is left out */
  async #save(sql: Sql, answer: Answer, maxBytes: number): Promise<Answer> {
    const text = renderAnswer(answer);
    const isSmall = text !== null && Buffer.byteLength(text.body) <= maxBytes;
    const isStillLeased = await store.saveAnswer(sql, this.#state.leased!, {
      status: answer.status,
      contentType: text?.contentType ?? null,
      location: answer.headers?.['location'] ?? null,
      body: isSmall ? this.#runtime.secretBox.seal(this.#boxName, text.body) : null,
      fingerprint: this.#fingerprint!,
      keepMs: ANSWER_TTL_MS,
    });
    if (!isStillLeased) throw lost();
    return { ...answer, ...text };
  }

  /** @throws ApiError  409 when SECRETS_KEY was changed since: the work is done and must not be done again */
  #openAnswer({ status, body, contentType, location }: SavedAnswer, jobId: string | null): Answer {
    try {
      return asReplay({
        status,
        ...(body && { body: this.#runtime.secretBox.open(this.#boxName, body) }),
        ...(contentType && { contentType }),
        ...(location && { headers: { location } }),
      });
    } catch (cause) {
      throw unreadable(jobId, cause);
    }
  }

  get #boxName(): string {
    return answerPlace(this.#state.name);
  }
}

/** What the answer for a key is sealed for. */
export function answerPlace({ accountId, key }: Omit<KeyName, 'shard'>): string {
  return `${accountId} ${key}`;
}

/** Whether the answer was saved without its body, because of its size: the body is written again from the job. */
function lacksBody(stored: LockedKey | null): stored is LockedKey & { answer: SavedAnswer } {
  return stored?.answer?.contentType != null && stored.answer.body === null;
}

/** Whether the answer was deleted together with the job that it shows: the answers of jobs have a content type. */
function isErased(stored: LockedKey | null): stored is LockedKey & { jobId: string } {
  return stored?.answer?.contentType === null && stored.jobId !== null;
}

function asReplay(answer: Answer): Answer {
  return { ...answer, headers: { ...answer.headers, 'idempotent-replayed': 'true' } };
}

/** The 409 for a key that belongs to another request. */
export function otherRequest(): ApiError {
  return new ApiError('conflict', 'This Idempotency-Key was used for another request; use a new one.');
}

function unreadable(jobId: string | null, cause?: unknown): ApiError {
  const what = jobId === null ? 'look for what it made' : `read the job ${jobId}`;
  const message = `The request with this Idempotency-Key was carried out, but its answer can no longer be opened; ${what}.`;
  return new ApiError('conflict', message, { cause, ...(jobId !== null && { extra: { job_id: jobId } }) });
}

function erased(jobId: string): ApiError {
  const message = 'The job of the request with this Idempotency-Key was erased; use a new one to make another job.';
  return new ApiError('conflict', message, { extra: { job_id: jobId } });
}

function lost(): ApiError {
  return new ApiError('conflict', 'Another request has taken over this Idempotency-Key; try again to read its answer.');
}
