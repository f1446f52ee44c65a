import type { Runtime } from '../../db/runtime.ts';
import { type ApiError, rateLimited } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import { waitAtMost } from '../../platform/clock.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import type { Job } from '../job.ts';
import { jobOr404 } from '../own-job.ts';
import type { CompletionWaiter } from './completion-waiter.ts';

const MAX_WAITS_PER_ACCOUNT = 100;
const RETRY_SECONDS = 5;

/** The longest `?wait=`, in seconds. */
export const MAX_WAIT_SECONDS = 60;

type WaitingCall = Pick<Call<unknown, unknown, unknown>, 'account' | 'signal' | 'memory'>;

/** Requests for one job that are answered at the job's end. */
export class JobWaits {
  readonly #runtime: Runtime & { completions: CompletionWaiter };
  /** By account. */
  readonly #counts = new Map<string, number>();

  constructor(runtime: Runtime & { completions: CompletionWaiter }) {
    this.#runtime = runtime;
  }

  /**
   * The job at its end, or as it is after `seconds`.
   * @throws ApiError  404; 429 when the account has as many waiting requests on this node, or unread answers, as it may
   *                   have
   */
  async read({ account, signal, memory }: WaitingCall, id: string, seconds: number): Promise<Job> {
    const { db, clock, completions } = this.#runtime;
    using _counted = this.#count(account.id);
    // Before the job is read, or its end could be missed.
    using completion = completions.subscribe({ shard: account.shard, id });
    const job = await jobOr404(db, account, id, memory);
    if (isTerminal(job.state)) return job;
    await waitAtMost(clock, completion.ended, seconds * 1_000, signal);
    return signal.aborted ? job : await jobOr404(db, account, id, memory);
  }

  #count(accountId: string): Disposable {
    const count = this.#counts.get(accountId) ?? 0;
    if (count >= MAX_WAITS_PER_ACCOUNT) throw tooManyWaits();
    this.#counts.set(accountId, count + 1);
    return {
      [Symbol.dispose]: () => {
        const left = this.#counts.get(accountId)! - 1;
        if (left > 0) this.#counts.set(accountId, left);
        else this.#counts.delete(accountId);
      },
    };
  }
}

function tooManyWaits(): ApiError {
  const message = `At most ${MAX_WAITS_PER_ACCOUNT} requests of an account may wait for jobs at once. Ask without wait, or try again.`;
  return rateLimited(message, RETRY_SECONDS);
}
