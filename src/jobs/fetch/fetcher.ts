import os from 'node:os';
import { FileFetcher } from '../../audio/fetch/fetch.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { BOUNDS } from '../../rules/bounds.ts';
import { LeaseKeeper } from '../work/lease-keeper.ts';
import { WorkLoop } from '../work/work-loop.ts';
import { executeFetch } from './execute-fetch.ts';
import type { FetcherRuntime } from './fetch-runtime.ts';
import {
  type ClaimedFetch,
  claimFetches,
  type FetchClaim,
  findAccountsToFetchFor,
  lockFetchesOf,
  renewFetches,
} from './fetch-store.ts';

/** Fetches at once of one account, over all nodes. */
const PER_ACCOUNT = 2;
/** Fetches at once of one node: bounds its sockets, its memory and what it sends to others. */
const PER_NODE = 8;

/** Fetches audio from URLs as jobs need it; `stop` releases the fetches under way. */
export async function startFetcher(runtime: FetcherRuntime): Promise<{ stop(): Promise<void> }> {
  const { db, config, ca, lookup, times } = runtime;
  const fetcher = new FileFetcher({
    ca,
    lookup,
    times,
    allowedTargets: config.audioUrlAllowedTargets,
    proxyUrl: config.webhookProxyUrl,
  });
  const leases = new LeaseKeeper<FetchClaim>(runtime, (claims, shard) =>
    renewFetches(db, claims, { shard, leaseMs: BOUNDS.leaseMs }),
  );
  // The probes of an account leave half of the permits to others.
  const cores = os.availableParallelism();
  const probes = openFairSemaphore({ permits: 2 * cores, perOwner: cores });
  const shared = { ...runtime, fetcher, leases, probes };
  const loop = new WorkLoop<ClaimedFetch>(runtime, {
    name: 'fetches',
    channel: 'fetches_due',
    places: PER_NODE,
    // The next one of an account that has as many as it may have.
    endsAdmitMore: true,
    claim: (places) => claimNextFetch(runtime, places),
    execute: (fetch, { signal }) => executeFetch(fetch, shared, signal),
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
  { db, holder }: FetcherRuntime,
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
