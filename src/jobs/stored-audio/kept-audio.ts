import type { Config } from '../../config/settings.ts';
import { isTerminal } from '../../rules/jobs/job-state.ts';
import type { Job } from '../job.ts';

/**
 * The key of a job's audio; null once it is no longer kept. With AUDIO_RETENTION_HOURS=0 that is from the job's end on,
 * although its file is erased up to 100 ms later, together with those of other jobs.
 */
export function keptAudioKey(
  { state, audioKey }: Pick<Job, 'state' | 'audioKey'>,
  { audioRetentionHours }: Config,
): string | null {
  return isTerminal(state) && audioRetentionHours === 0 ? null : audioKey;
}
