import type { Plan } from '../rules/accounts/plan.ts';
import type { AudioTrack } from '../rules/channels/audio-tracks.ts';
import type { JobState } from '../rules/jobs/job-state.ts';
import type { Warning } from '../rules/jobs/warnings.ts';
import type { FetchFailureReason } from '../rules/network/fetch-failure.ts';
import type { JobOptions } from './options.ts';
import type { SpeakerTime } from './speakers/label-transcript.ts';

export const JOB_ERROR_TYPES = [
  'unprocessable_audio',
  'insufficient_balance',
  'engine_error',
  'engine_timeout',
  'audio_fetch_failed',
] as const;
export type JobErrorType = (typeof JOB_ERROR_TYPES)[number];

/** A job as it is stored. Durations in ms, money in units (see rules/price.ts). */
export type Job = {
  shard: number;
  id: string;
  accountId: string;
  /** The API key that sent it. */
  keyId: string | null;
  state: JobState;
  plan: Plan;
  /** As the request named it; null to detect it. */
  language: string | null;
  wordTimes: boolean;
  options: JobOptions;
  /** The client's JSON text, unchanged. */
  metadata: string | null;
  filename: string | null;
  /** Null until audio that is fetched from a URL was stored; likewise the size, the key and the length. */
  format: string | null;
  sizeBytes: number | null;
  /** The file's audio tracks; empty while they are unknown. */
  tracks: AudioTrack[];
  audioKey: string | null;
  /** Origin and path of the URL that the audio is fetched from; null for an upload. */
  audioSource: string | null;
  /** The length that the probe found; once the job has ended, the decoded length. */
  durationMs: number | null;
  /** Whether its account has no balance. */
  unlimited: boolean;
  /** The hold; 0 for unlimited accounts. Grows when the audio is longer than its headers say. */
  heldUnits: number;
  /** Cost of the audio whose text was stored so far, in any attempt. */
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
  /** Null until the job has completed, and where the request did not ask for them or they were not found. */
  speakers: SpeakerTime[] | null;
  /** The words that the segments do not show, made by `packWords`; absent where they were not read. */
  words?: string | null;
  /** Empty until the job has ended. */
  warnings: Warning[];
  errorType: JobErrorType | null;
  errorMessage: string | null;
  /** Of `audio_fetch_failed`; null for the other errors. */
  errorReason: FetchFailureReason | null;
  /** The status that the server answered, where it is the reason. */
  errorHttpStatus: number | null;
  createdAt: Date;
  startedAt: Date | null;
  completedAt: Date | null;
  /** When the ended job is to be erased, where the request named a time. */
  expiresAt: Date | null;
};

/** The result of a job that has not ended. */
export const NO_RESULT = {
  ...{ costUnits: null, model: null, detectedLanguage: null, transcript: null, segments: null, speakers: null },
  ...{ warnings: [], errorType: null, errorMessage: null, errorReason: null, errorHttpStatus: null },
  ...{ completedAt: null, expiresAt: null },
} satisfies Partial<Job>;

/** A job claimed by this process. After another claim, writes under this lease are rejected. */
export type ClaimedJob = Job & { format: string; sizeBytes: number; durationMs: number };

/** The result of a job's execution. Its cost is computed when the end is written. */
export type Outcome =
  | {
      kind: 'completed';
      model: string;
      language: string | null;
      transcript: string;
      /** JSON text as the API shows it. */
      segments: string;
      speakers: SpeakerTime[] | null;
      /** As in `Job`. */
      words: string | null;
      warnings: Warning[];
      durationMs: number;
      /** The waveform, from `PeakCollector`; absent: none. */
      peaks?: Buffer;
      /** The length of all transcribed channels together. */
      chargedMs: number;
    }
  | {
      kind: 'failed';
      type: JobErrorType;
      message: string;
      model: string | null;
      /** The decoded length, where it is more than the probe found. */
      durationMs?: number;
    };

/** Counts jobs that ended. */
export type JobMetrics = { jobEnded(job: Job): void };
