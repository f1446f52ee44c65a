import os from 'node:os';
import { type FetcherOptions, FileFetcher } from '../../audio/fetch/fetch.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import type { Config } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { openSemaphore } from '../../platform/semaphore.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import type { JobMetrics } from '../job.ts';
import { LeaseKeeper } from '../work/lease-keeper.ts';
import { WorkLoop } from '../work/work-loop.ts';
import { executeFetch } from './execute-fetch.ts';
import {
  type ClaimedFetch,
  claimFetches,
  type FetchClaim,
  findAccountsToFetchFor,
  lockFetchesOf,
  renewFetches,
} from './fetch-store.ts';

export type FetcherDeps = Pick<FetcherOptions, 'ca' | 'lookup' | 'times'> & {
  db: Database;
  config: Config;
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

/** Fetches audio from URLs as jobs need it; `stop` releases the fetches under way. */
export async function startFetcher(deps: FetcherDeps): Promise<{ stop(): Promise<void> }> {
  const { db, config, ca, lookup, times } = deps;
  const fetcher = new FileFetcher({
    ca,
    lookup,
    times,
    allowedTargets: config.audioUrlAllowedTargets,
    proxyUrl: config.webhookProxyUrl,
  });
  const leases = new LeaseKeeper<FetchClaim>({
    ...deps,
    renew: (claims, shard) => renewFetches(db, claims, { shard, leaseMs: BOUNDS.leaseMs }),
  });
  const fetchDeps = {
    ...deps,
    fetcher,
    leases,
    isOn: config.audioUrl === 'on',
    probes: openSemaphore(os.availableParallelism()),
    rates: { lite: config.creditRateLite, pro: config.creditRatePro },
    firstDelayMs: config.webhookRetryDelaysMs[0]!,
  };
  const loop = new WorkLoop<ClaimedFetch>(deps, {
    name: 'fetches',
    channel: 'fetches_due',
    places: PER_NODE,
    claim: (places) => claimNextFetch(deps, places),
    execute: (fetch, { signal }) => executeFetch(fetch, fetchDeps, signal),
  });
  await loop.start();
  return {
    async stop() {
      await loop.stop();
      await leases.close();
      fetcher.close();
    },
  };
}

/** Claims one fetch: accounts take turns. */
async function claimNextFetch(
  { db, holder }: FetcherDeps,
  places: number,
): Promise<{ claimed: ClaimedFetch[]; isDrained: boolean }> {
  for (const account of await findAccountsToFetchFor(db, { perAccount: PER_ACCOUNT, limit: places })) {
    const claimed = await db.transaction(async (tx) => {
      await lockFetchesOf(tx, account);
      const wanted = { ...account, holder, perAccount: PER_ACCOUNT, places: 1, leaseMs: BOUNDS.leaseMs };
      return await claimFetches(tx, wanted);
    });
    if (claimed.length > 0) return { claimed, isDrained: false };
  }
  return { claimed: [], isDrained: true };
}
