import type { FetcherOptions, FileFetcher } from '../../audio/fetch/fetch.ts';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { FairSemaphore } from '../../platform/fair-semaphore.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import type { JobMetrics } from '../job.ts';
import type { LeaseKeeper } from '../work/lease-keeper.ts';
import type { FetchClaim } from './fetch-store.ts';

/** What the fetcher runs on. */
export type FetcherRuntime = StorageRuntime &
  Pick<FetcherOptions, 'ca' | 'lookup' | 'times'> & {
    tools: ToolPaths;
    secretBox: Pick<SecretBox, 'open'>;
    jobMetrics: JobMetrics;
    /** The name of this process, so that its leases can be released when it has ended. */
    holder: string;
  };

/** The same with what its fetches share. */
export type FetchRuntime = FetcherRuntime & {
  fetcher: FileFetcher;
  leases: LeaseKeeper<FetchClaim>;
  /** Limits the probes that run at once, in all and per account. */
  probes: FairSemaphore;
};
