import os from 'node:os';
import type { FetcherOptions } from '../../audio/fetch/fetch.ts';
import { FileFetcher } from '../../audio/fetch/fetch.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import { isDatabaseAway } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import { waitAtMost } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import { WakeSignal } from '../../platform/wake-signal.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import type { JobMetrics } from '../job.ts';
import type { ExecuteFetchDeps } from './execute-fetch.ts';
import { executeFetch, FetchStopError } from './execute-fetch.ts';
import type { ClaimedFetch } from './fetch-store.ts';
import { claimFetches, findAccountsToFetchFor, lockFetchesOf } from './fetch-store.ts';

export type FetcherDeps = Pick<FetcherOptions, 'ca' | 'lookup' | 'times'> & {
  db: Database;
  config: Pick<
    Config,
    | 'audioUrl'
    | 'audioUrlAllowedTargets'
    | 'webhookProxyUrl'
    | 'maxUploadBytes'
    | 'minFreeDiskBytes'
    | 'maxAudioSeconds'
    | 'creditRateLite'
    | 'creditRatePro'
    | 'webhookRetryDelaysMs'
  >;
  storage: AudioStorage;
  tools: ToolPaths;
  secretBox: Pick<SecretBox, 'open'>;
  clock: Clock;
  log: Log;
  metrics?: JobMetrics;
  /** The name of this process, so that its leases can be released when it has ended. */
  holder: string;
};

/** Fetches at once of one account, over all nodes. */
const PER_ACCOUNT = 2;
/** Fetches at once of one node: bounds its sockets, its memory and what it sends to others. */
const PER_NODE = 8;
// NOTIFY starts fetches at once; the poll finds retries, and fetches whose notification was lost.
const POLL_MS = 1_000;
const BACK_OFF_MS = 5_000;

/** Fetches audio from URLs as jobs need it; `stop` releases the fetches under way. */
export async function startFetcher(deps: FetcherDeps): Promise<{ stop(): Promise<void> }> {
  const fetcher = new Fetcher(deps);
  await fetcher.start();
  return { stop: () => fetcher.stop() };
}

/** The loop that claims due fetches. */
class Fetcher {
  readonly #deps: FetcherDeps;
  readonly #executeDeps: ExecuteFetchDeps;
  readonly #stopping = new AbortController();
  readonly #executing = new Set<Promise<void>>();
  readonly #wake = new WakeSignal();
  #stopListening: () => Promise<void> = async () => undefined;
  #loop: Promise<void> = Promise.resolve();

  constructor(deps: FetcherDeps) {
    const { config, ca, lookup, times } = deps;
    this.#deps = deps;
    this.#executeDeps = {
      ...deps,
      isOn: config.audioUrl === 'on',
      fetcher: new FileFetcher({
        ...{ ca, lookup, times },
        allowedTargets: config.audioUrlAllowedTargets,
        proxyUrl: config.webhookProxyUrl,
      }),
      probes: openSemaphore(os.availableParallelism()),
      rates: { lite: config.creditRateLite, pro: config.creditRatePro },
      firstDelayMs: config.webhookRetryDelaysMs[0]!,
    };
  }

  async start(): Promise<void> {
    this.#stopListening = await this.#deps.db.listen('fetches_due', () => this.#wake.send());
    this.#loop = this.#claimUntilStopped();
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new FetchStopError());
    this.#wake.send();
    await this.#stopListening();
    await this.#loop;
    await waitAtMost(this.#deps.clock, Promise.all(this.#executing), BOUNDS.workStopMs);
    this.#executeDeps.fetcher.close();
  }

  async #claimUntilStopped(): Promise<void> {
    const { clock, log } = this.#deps;
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const woken = this.#wake.next();
      try {
        await this.#claimForFreePlaces();
        await waitAtMost(clock, woken, POLL_MS, signal);
      } catch (err) {
        if (isDatabaseAway(err)) log.warn({ err }, 'database away; no audio is fetched');
        else log.error({ err }, 'could not claim fetches');
        await clock.sleep(BACK_OFF_MS, signal);
      }
    }
  }

  /** One fetch of each account in turn, until the places are taken or nothing is due. */
  async #claimForFreePlaces(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      const limit = PER_NODE - this.#executing.size;
      if (limit <= 0) return;
      let claimed = 0;
      for (const account of await findAccountsToFetchFor(this.#deps.db, { perAccount: PER_ACCOUNT, limit })) {
        if (this.#stopping.signal.aborted) return;
        for (const fetch of await this.#claim(account)) {
          claimed += 1;
          this.#execute(fetch);
        }
      }
      if (claimed === 0) return;
    }
  }

  async #claim(account: { shard: number; accountId: string }): Promise<ClaimedFetch[]> {
    const { db, holder } = this.#deps;
    const wanted = { ...account, holder, perAccount: PER_ACCOUNT, places: 1, leaseMs: BOUNDS.leaseMs };
    return await db.transaction(async (tx) => {
      await lockFetchesOf(tx, account);
      return await claimFetches(tx, wanted);
    });
  }

  #execute(fetch: ClaimedFetch): void {
    const execution: Promise<void> = executeFetch(fetch, this.#executeDeps, this.#stopping.signal)
      .catch((err: unknown) => {
        this.#deps.log.error({ job_id: fetch.id, err }, 'a fetch could not be recorded; its lease will end');
      })
      .finally(() => {
        this.#executing.delete(execution);
        this.#wake.send();
      });
    this.#executing.add(execution);
  }
}
