import type { Account } from '../../accounts/account.ts';
import { hasCredit } from '../../accounts/store.ts';
import { requireFreeDisk } from '../../audio/storage/free-disk.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { ApiError } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { mayUsePlan } from '../../rules/accounts/plan.ts';
import { openQueueAdmission } from '../queue/admission.ts';

export type UploadAdmission = {
  /**
   * Admits an upload before its body is read; what it returns is disposed once the upload has become a job or was refused.
   * @throws ApiError  402, 429 or 503
   */
  admit(call: Pick<Call<unknown, unknown, unknown>, 'account' | 'idempotency' | 'upload'>): Promise<Disposable>;
  /** @throws ApiError  402 when nothing is left that the account could spend */
  requireCredit(account: Account): Promise<void>;
};

type AdmissionDeps = {
  db: Database;
  storage: Pick<AudioStorage, 'freeBytes'>;
  clock: Clock;
  config: Pick<
    Config,
    | 'maxQueuedJobs'
    | 'maxUploadsPerAccount'
    | 'maxUploadBytes'
    | 'minFreeDiskBytes'
    | 'creditRateLite'
    | 'creditRatePro'
  >;
};

// Nobody can say when an upload under way will end; small ones take less than a second.
const RETRY_AFTER_SECONDS = 5;

/** Decides by what is known without the body: balance, uploads under way, free disk, jobs that wait. */
export function openUploadAdmission({ db, storage, clock, config }: AdmissionDeps): UploadAdmission {
  const queue = openQueueAdmission({ db, clock, config });
  const enterUpload = openUploadCounts(config.maxUploadsPerAccount);

  async function requireCredit(account: Account): Promise<void> {
    if (account.unlimited || mayCostNothing(account, config)) return;
    if (!(await hasCredit(db, account))) throw outOfCredit();
  }

  return {
    requireCredit,
    async admit({ account, idempotency, upload }) {
      // The answer of an earlier request is owed to its caller also when the job took the last credit.
      if (!idempotency.isRepeat) await requireCredit(account);
      const underWay = enterUpload(account.id);
      try {
        const wantedBytes = Math.min(upload.contentLength ?? 0, config.maxUploadBytes);
        await requireFreeDisk(storage, config.minFreeDiskBytes, wantedBytes);
        await queue.admit();
        return underWay;
      } catch (cause) {
        underWay[Symbol.dispose]();
        throw cause;
      }
    },
  };
}

/**
 * Counts the uploads of each account that are under way in this process: exact on a node, not across nodes, since it
 * protects the disk, memory and sockets of each node.
 */
function openUploadCounts(maxPerAccount: number): (accountId: string) => Disposable {
  const underWay = new Map<string, number>();
  return (accountId) => {
    const before = underWay.get(accountId) ?? 0;
    if (before >= maxPerAccount) throw tooManyUploads(maxPerAccount);
    underWay.set(accountId, before + 1);
    let isOver = false;
    return {
      [Symbol.dispose]() {
        if (isOver) return;
        isOver = true;
        const left = underWay.get(accountId)! - 1;
        if (left > 0) underWay.set(accountId, left);
        else underWay.delete(accountId);
      },
    };
  };
}

function mayCostNothing({ plan }: Account, { creditRateLite, creditRatePro }: AdmissionDeps['config']): boolean {
  return (mayUsePlan(plan, 'lite') && creditRateLite === 0) || (mayUsePlan(plan, 'pro') && creditRatePro === 0);
}

function outOfCredit(): ApiError {
  return new ApiError('insufficient_balance', 'The balance is used up. Add credits, then send the audio again.');
}

function tooManyUploads(maxPerAccount: number): ApiError {
  const message = `At most ${maxPerAccount} uploads of an account may be under way at once. Send this one when another has ended.`;
  return new ApiError('rate_limited', message, {
    extra: { retry_after: RETRY_AFTER_SECONDS },
    headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
  });
}
