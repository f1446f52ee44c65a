import os from 'node:os';
import type { StorageRuntime } from '../../audio/storage/storage.ts';
import type { Lookup } from '../../egress/dns/lookup.ts';
import { type FairSemaphore, openFairSemaphore } from '../../platform/fair-semaphore.ts';
import type { ToolPaths } from '../../platform/tools.ts';
import type { SecretBox } from '../../webhooks/secrets/secrets.ts';
import { type AudioUrlGuard, openAudioUrlGuard } from '../fetch/audio-url.ts';
import type { JobMetrics } from '../job.ts';
import { openQueuePositions, type QueuePositions } from '../queue/queue-position.ts';
import { Repeats } from '../repeats/repeats.ts';
import type { CompletionWaiter } from '../stream/completion-waiter.ts';
import type { JobNotifications } from '../stream/job-notifications.ts';
import { openPlanWaits, type PlanWaits } from '../waiting/plan-waits.ts';
import { JobWebhooks } from './job-webhook.ts';
import { openUploadAdmission, type UploadAdmission } from './upload-admission.ts';

/** What the endpoints of jobs run on. */
export type JobsRuntime = StorageRuntime & {
  tools: ToolPaths;
  /** Encrypts URLs and headers of audio that is to be fetched, and the secrets of jobs' webhooks. */
  secretBox: Pick<SecretBox, 'seal' | 'open'>;
  /** Resolves the names in `audio_url` and `webhook_url`. */
  lookup?: Lookup;
  completions: CompletionWaiter;
  notifications: JobNotifications;
  /** Counts the jobs that are canceled. */
  jobMetrics: JobMetrics;
};

/** The same with what the endpoints share: the limits of uploads, the guards of URLs, what queued jobs wait for. */
export type JobsApi = JobsRuntime & {
  /** Limits the probes that run at once, in all and per account. */
  probes: FairSemaphore;
  uploads: UploadAdmission;
  audioUrls: AudioUrlGuard;
  jobWebhooks: JobWebhooks;
  positions: QueuePositions;
  repeats: Repeats;
  waits: PlanWaits;
};

export function openJobsApi<Given extends JobsRuntime>(runtime: Given): Given & JobsApi {
  const cores = os.availableParallelism();
  return {
    ...runtime,
    probes: openFairSemaphore({ permits: 2 * cores, perOwner: cores }),
    uploads: openUploadAdmission(runtime),
    audioUrls: openAudioUrlGuard(runtime),
    jobWebhooks: new JobWebhooks(runtime),
    positions: openQueuePositions(runtime),
    repeats: new Repeats(runtime),
    waits: openPlanWaits(runtime),
  };
}
