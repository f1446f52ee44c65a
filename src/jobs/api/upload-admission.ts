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
import { readAtMostEvery } from '../queue/read-at-most-every.ts';

export type UploadAdmission = {
  /**
   * Admits an upload before its body is read. Dispose the result once the upload has become a job or was refused.
   * @throws ApiError  402, 429 or 503
   */
  admit(call: Pick<Call<unknown, unknown, unknown>, 'account' | 'idempotency' | 'upload'>): Promise<Disposable>;
  /** @throws ApiError  402 when the account has no credit left */
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

// Uploads check the disk again as they arrive.
const FREE_DISK_EVERY_MS = 250;
// The end of an upload under way cannot be predicted; small ones take less than a second.
const RETRY_AFTER_SECONDS = 5;

/** Decides without the body: by balance, uploads under way, free disk and queued jobs. */
export function openUploadAdmission({ db, storage, clock, config }: AdmissionDeps): UploadAdmission {
  const queue = openQueueAdmission({ db, clock, config });
  const beginUpload = openUploadCounts(config.maxUploadsPerAccount);
  const disk = { freeBytes: readAtMostEvery(clock, FREE_DISK_EVERY_MS, () => storage.freeBytes()) };

  async function requireCredit(account: Account): Promise<void> {
    if (account.unlimited || mayCostNothing(account, config)) return;
    if (!(await hasCredit(db, account))) throw outOfCredit();
  }

  return {
    requireCredit,
    async admit({ account, idempotency, upload }) {
      // A repeated request gets its saved answer, also when its job took the last credit.
      if (!idempotency.isRepeat) await requireCredit(account);
      const underWay = beginUpload(account.id);
      try {
        const wantedBytes = Math.min(upload.contentLength ?? 0, config.maxUploadBytes);
        await requireFreeDisk(disk, config.minFreeDiskBytes, wantedBytes);
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
 * Limits the uploads of each account that are under way in this process. The limit is per process, since it protects the
 * disk, memory and sockets of one node.
 */
function openUploadCounts(maxPerAccount: number): (accountId: string) => Disposable {
  const underWay = new Map<string, number>();
  return (accountId) => {
    const before = underWay.get(accountId) ?? 0;
    if (before >= maxPerAccount) throw tooManyUploads(maxPerAccount);
    underWay.set(accountId, before + 1);
    let hasEnded = false;
    return {
      [Symbol.dispose]() {
        if (hasEnded) return;
        hasEnded = true;
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
