import { createHash } from 'node:crypto';
import type { Account } from '../../accounts/account.ts';
import type { Runtime } from '../../db/runtime.ts';
import type { Call } from '../../http/route.ts';
import type { JobKey } from '../store.ts';
import { findEarlierJob, setUnanswered, type UploadDigest } from './repeat-store.ts';

type AccountKey = Pick<Account, 'shard' | 'id'>;

/** An upload without an Idempotency-Key that may be the repetition of an earlier one. */
export type Repeatable = UploadDigest & {
  /** Whether the client says so. */
  isRetry: boolean;
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
  /** By digest: uploads of this process whose jobs are being made. Their repetitions wait. */
  readonly #making = new Map<string, PromiseWithResolvers<void>>();

  constructor({ db }: Pick<Runtime, 'db'>) {
    this.#db = db;
  }

  /** @param fingerprint  of the fields and the file */
  identify(
    { account, actor, header }: Pick<Call<unknown, unknown, unknown>, 'actor' | 'header'> & { account: AccountKey },
    { endpoint, fingerprint }: { endpoint: string; fingerprint: string },
  ): Repeatable {
    const digest = createHash('sha256')
      .update(JSON.stringify([endpoint, actor.key?.id ?? null, fingerprint]))
      .digest('hex');
    const isRetry = Number(header(RETRY_HEADER)) > 0;
    return { shard: account.shard, accountId: account.id, digest, isRetry };
  }

  /** The id of the earlier job; null for an upload that is no repetition: call `made` once its job is made, or not. */
  async findEarlier(upload: Repeatable): Promise<string | null> {
    if (upload.isRetry) await this.#making.get(upload.digest)?.promise;
    this.#making.set(upload.digest, Promise.withResolvers());
    const found = await findEarlierJob(this.#db, { ...upload, joinMs: JOIN_MS });
    if (found !== null) this.made(upload);
    return found;
  }

  made({ digest }: Repeatable): void {
    this.#making.get(digest)?.resolve();
    this.#making.delete(digest);
  }

  /** The request for the job ends. @param isUnanswered  its caller has hung up */
  async end(job: JobKey, isUnanswered: boolean): Promise<void> {
    await setUnanswered(this.#db, job, isUnanswered);
  }
}
