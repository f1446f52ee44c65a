import { createHash } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { Call } from '../../http/route.ts';
import { unlessAborted } from '../../platform/clock.ts';
import type { JobKey } from '../store.ts';
import { findEarlierJob, setUnanswered, type UploadDigest } from './repeat-store.ts';

type AccountKey = Pick<Account, 'shard' | 'id'>;

/**
 * An upload without an Idempotency-Key that may be the repetition of an earlier one. Dispose it once its job is made,
 * or will not be: its repetitions wait until then.
 */
export type Repeatable = UploadDigest &
  Disposable & {
    /** Whether the client says so. */
    isRetry: boolean;
    /** Resolves when the jobs of all equal uploads that came to this process before are made, or will not be. */
    earlierMade: Promise<void>;
  };

// Of official clients of the OpenAI API, on every request.
const RETRY_HEADER = 'x-stainless-retry-count';
/** For how long after its end a job is the answer to a repetition. */
const JOIN_MS = 10 * 60_000;
/** Longer than a job waits and runs, in nearly all cases. */
export const REMEMBERED_MS = 24 * 60 * 60_000;

/**
 * Finds the job of an upload that a client sends again because it got no answer: by the same key, with the same fields
 * and bytes. It is a repetition when the client says so in `X-Stainless-Retry-Count`, or when the caller of the earlier
 * one, which may be a proxy, hung up before the answer. Any other equal upload makes a job of its own.
 */
export class Repeats {
  readonly #db: Runtime['db'];
  /** By digest: resolves when the jobs of all uploads of this process so far are made, or will not be. */
  readonly #making = new Map<string, Promise<void>>();

  constructor({ db }: Pick<Runtime, 'db'>) {
    this.#db = db;
  }

  /** An upload whose job is being made from now on. @param fingerprint  of the fields and the file */
  identify(
    { account, actor, header }: Pick<Call<unknown, unknown, unknown>, 'actor' | 'header'> & { account: AccountKey },
    { endpoint, fingerprint }: { endpoint: string; fingerprint: string },
  ): Repeatable {
    const digest = createHash('sha256')
      .update(JSON.stringify([endpoint, actor.key?.id ?? null, fingerprint]))
      .digest('hex');
    const isRetry = Number(header(RETRY_HEADER)) > 0;
    return { shard: account.shard, accountId: account.id, digest, isRetry, ...this.#make(digest) };
  }

  /**
   * The id of the earlier job; null for an upload that is no repetition: its job is to be made.
   * @throws unknown  the reason of the signal, where that aborts while the upload waits for an earlier one
   */
  async findEarlier(upload: Repeatable, signal: AbortSignal): Promise<string | null> {
    if (upload.isRetry) await unlessAborted(upload.earlierMade, signal);
    const found = await findEarlierJob(this.#db, { ...upload, joinMs: JOIN_MS });
    if (found !== null) upload[Symbol.dispose]();
    return found;
  }

  /** An upload waits for those before it only: no two wait for each other. */
  #make(digest: string): Pick<Repeatable, 'earlierMade'> & Disposable {
    const earlierMade = this.#making.get(digest) ?? Promise.resolve();
    const own = Promise.withResolvers<void>();
    const all = Promise.all([earlierMade, own.promise]).then(() => {
      if (this.#making.get(digest) === all) this.#making.delete(digest);
    });
    this.#making.set(digest, all);
    return { earlierMade, [Symbol.dispose]: own.resolve };
  }

  /** The request for the job ends. @param isUnanswered  its caller has hung up */
  async end(job: JobKey, isUnanswered: boolean): Promise<void> {
    await setUnanswered(this.#db, job, isUnanswered);
  }
}
