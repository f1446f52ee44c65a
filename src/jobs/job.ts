import type { Plan } from '../rules/accounts/plan.ts';
import type { JobState } from '../rules/jobs/job-state.ts';

export const JOB_ERROR_TYPES = [
  'unprocessable_audio',
  'insufficient_balance',
  'engine_error',
  'engine_timeout',
] as const;
export type JobErrorType = (typeof JOB_ERROR_TYPES)[number];

/** A job as it is stored. Durations in ms, money in units (see rules/price.ts). */
export type Job = {
  shard: number;
  id: string;
  accountId: string;
  state: JobState;
  plan: Plan;
  /** What the client asked for; null to detect. */
  language: string | null;
  wordTimes: boolean;
  /** The client's JSON text, unchanged. */
  metadata: string | null;
  filename: string | null;
  format: string;
  sizeBytes: number;
  audioKey: string | null;
  /** What the probe showed; the decoded length once the job ended. */
  durationMs: number;
  /** What is set aside for the job; 0 for unlimited accounts. Grows while the audio turns out longer than it claimed. */
  heldUnits: number;
  /** Cost of the audio whose text could be read so far, in any attempt. */
  transcribedUnits: number;
  costUnits: number | null;
  attempts: number;
  lease: number;
  progress: number;
  model: string | null;
  detectedLanguage: string | null;
  transcript: string | null;
  /** The segments as JSON text, as the API shows them; null in lists, which do not read them. */
  segments: string | null;
  errorType: JobErrorType | null;
  errorMessage: string | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
};

/** A job that this process holds: whoever claims it later gets another lease, and this one's word no longer counts. */
export type ClaimedJob = Job & { unlimited: boolean };

/** How a job's work ended; what it costs is decided when it is written down. */
export type Outcome =
  | {
      kind: 'completed';
      model: string;
      language: string | null;
      transcript: string;
      /** JSON text as the API shows it. */
      segments: string;
      durationMs: number;
    }
  | {
      kind: 'failed';
      type: JobErrorType;
      message: string;
      model: string | null;
      /** How much was decoded, where that is more than the probe showed. */
      durationMs?: number;
    };

/** Told of each job by whoever ended it. */
export type JobMetrics = { jobEnded(job: Job): void };
