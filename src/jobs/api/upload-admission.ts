import type { Account } from '../../accounts/account.ts';
import { insufficientBalance } from '../../accounts/ledger/insufficient-balance.ts';
import { readAmount } from '../../accounts/store.ts';
import { requireFreeDisk } from '../../audio/storage/free-disk.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import { creditRates } from '../../config/rates.ts';
import type { Config } from '../../config/settings.ts';
import { type ApiError, rateLimited } from '../../http/api-error.ts';
import type { Call } from '../../http/route.ts';
import type { Clock } from '../../platform/clock.ts';
import { readAtMostEvery } from '../../platform/read-at-most-every.ts';
import { mayUsePlan, PLANS } from '../../rules/accounts/plan.ts';
import { openQueueAdmission } from '../queue/admission.ts';

export type UploadAdmission = {
  /**
   * Admits an upload before its body is read. Dispose the result once the upload has become a job or was refused.
   * @throws ApiError  402, 429 or 503
   * @throws unknown   the reason of the signal, where that aborts while the upload waits for its place
   */
  admit(
    call: Pick<Call<unknown, unknown, unknown>, 'account' | 'idempotency' | 'upload' | 'signal'>,
  ): Promise<Disposable>;
  /** @throws ApiError  402 when the account has no credit left */
  requireCredit(account: Account): Promise<void>;
};

// Uploads check the disk again as they arrive.
const FREE_DISK_EVERY_MS = 250;
// The end of an upload under way cannot be predicted; small ones take less than a second.
const RETRY_AFTER_SECONDS = 5;
/** On a busy machine small uploads take a second each. */
const WAIT_FOR_PLACE_MS = 15_000;

/** Decides without the body: by balance, uploads under way, free disk and queued jobs. */
export function openUploadAdmission({ db, storage, clock, config }: StorageRuntime): UploadAdmission {
  const queue = openQueueAdmission({ db, clock, config });
  const beginUpload = openUploadCounts(config.maxUploadsPerAccount, clock);
  const disk = { freeBytes: readAtMostEvery(clock, FREE_DISK_EVERY_MS, () => storage.freeBytes()) };

  async function requireCredit(account: Account): Promise<void> {
    if (account.unlimited || mayCostNothing(account, config)) return;
    const availableUnits = await readAmount(db, account);
    if (availableUnits <= 0) throw outOfCredit(availableUnits);
  }

  return {
    requireCredit,
    async admit({ account, idempotency, upload, signal }) {
      // A repeated request gets its saved answer, also when its job took the last credit.
      // The statement that accepts the job decides, under the account's lock.
      if (!idempotency.isRepeat && !account.hadCredit) await requireCredit(account);
      const underWay = await beginUpload(account.id, signal);
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

type Places = { underWay: number; waiting: Set<() => void> };

/**
 * Limits the uploads of each account that are under way in this process. The limit is per process, since it protects
 * the disk, memory and sockets of one node. As many more wait a while, without their bodies: small uploads that arrive
 * together follow each other quickly, and the rate limit has admitted them already.
 */
function openUploadCounts(maxPerAccount: number, clock: Clock) {
  const accounts = new Map<string, Places>();

  async function waitForPlace({ waiting }: Places, signal: AbortSignal): Promise<boolean> {
    signal.throwIfAborted();
    if (waiting.size >= maxPerAccount) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const take = () => resolve(true);
    waiting.add(take);
    const timer = new AbortController();
    const isOver = AbortSignal.any([timer.signal, signal]);
    void clock.sleep(WAIT_FOR_PLACE_MS, isOver).then(() => waiting.delete(take) && resolve(false));
    const isTaken = await promise.finally(() => timer.abort(null));
    // A place that was taken is the upload's to end, also after its caller hung up.
    if (!isTaken) signal.throwIfAborted();
    return isTaken;
  }

  /** The place passes to the upload that has waited longest. */
  function end(accountId: string): void {
    const places = accounts.get(accountId)!;
    const [next] = places.waiting;
    if (next) {
      places.waiting.delete(next);
      next();
      return;
    }
    places.underWay -= 1;
    if (places.underWay === 0) accounts.delete(accountId);
  }

  return async (accountId: string, signal: AbortSignal): Promise<Disposable> => {
    const places = accounts.get(accountId) ?? { underWay: 0, waiting: new Set() };
    accounts.set(accountId, places);
    if (places.underWay < maxPerAccount) places.underWay += 1;
    else if (!(await waitForPlace(places, signal))) throw tooManyUploads(maxPerAccount);
    let hasEnded = false;
    return {
      [Symbol.dispose]() {
        if (hasEnded) return;
        hasEnded = true;
        end(accountId);
      },
    };
  };
}

function mayCostNothing(account: Account, config: Config): boolean {
  const rates = creditRates(config);
  return PLANS.some((plan) => mayUsePlan(account.plan, plan) && rates[plan] === 0);
}

/** The length of the audio is not known yet. */
function outOfCredit(availableUnits: number): ApiError {
  const message = 'The balance is used up. Add credits, then send the audio again.';
  return insufficientBalance({ neededUnits: 1, availableUnits }, () => message);
}

function tooManyUploads(maxPerAccount: number): ApiError {
  const message = `At most ${maxPerAccount} uploads of an account may be under way at once. Send this one when another has ended.`;
  return rateLimited(message, RETRY_AFTER_SECONDS);
}
