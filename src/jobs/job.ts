import { column, given, initialValues, type ValuesOf } from '../db/statements/columns.ts';
import type { Plan } from '../rules/accounts/plan.ts';
import type { AudioTrack } from '../rules/channels/audio-tracks.ts';
import type { JobState, Wait } from '../rules/jobs/job-state.ts';
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

/**
 * The columns of a job by when they are written first. What is inserted, selected and typed follows from this table.
 * Durations in ms, money in units (see rules/jobs/price.ts).
 */
export const JOB_TABLE = {
  /** By the request: what it is about, and who sent it. */
  accepted: {
    shard: given<number>('smallint'),
    id: given<string>('text'),
    accountId: given<string>('text'),
    /** The API key that sent it. */
    keyId: given<string | null>('text'),
    plan: given<Plan>('text'),
    filename: given<string | null>('text'),
    /** Origin and path of the URL that the audio is fetched from; null for an upload. */
    audioSource: given<string | null>('text'),
    /** Whether its account has no balance. */
    unlimited: given<boolean>('boolean'),
    /** Of the request (W3C Trace Context), as `readTraceparent` gives it; null without one. */
    traceparent: given<string | null>('text'),
  },
  /** By the request: what it asks for, which a retry asks for again. A request that does not has the initial value. */
  requested: {
    /** BCP 47 in its canonical spelling, as the request named it; null to detect it. */
    language: column<string | null>('text', null),
    wordTimes: column('boolean', false),
    options: column<JobOptions>('jsonb', {}),
    /** The client's JSON text, unchanged. */
    metadata: column<string | null>('text', null),
    /** A name of the client's own. */
    title: column<string | null>('text', null),
    /** Each once. Also pairs by which lists find the job. */
    tags: column<string[]>('jsonb', []),
  },
  /** When its audio is stored: at once, or after it was fetched from a URL. */
  stored: {
    format: column<string | null>('text', null),
    sizeBytes: column<number | null>('bigint', null),
    /** The file's audio tracks; empty while they are unknown. */
    tracks: column<AudioTrack[]>('jsonb', []),
    /** Null again once the audio is erased. */
    audioKey: column<string | null>('text', null),
    /** The length that the probe found; once the job has ended, the decoded length. */
    durationMs: column<number | null>('bigint', null),
    /** The hold; 0 for unlimited accounts. Grows when the audio is longer than its headers say. */
    heldUnits: column('bigint', 0),
  },
  /** By the endpoint. */
  source: {
    /** Whether its audio comes over a live session: its size and length are 0 until it ends. */
    isLive: column('boolean', false),
  },
  /** While it waits and is executed. */
  executed: {
    state: column<JobState>('text', 'queued'),
    /** Cost of the audio whose text was stored so far, in any attempt. */
    transcribedUnits: column('bigint', 0),
    attempts: column('smallint', 0),
    lease: column('integer', 0),
    progress: column('real', 0),
    startedAt: column<Date | null>('timestamptz', null),
  },
  /** When it has ended. */
  ended: {
    costUnits: column<number | null>('bigint', null),
    model: column<string | null>('text', null),
    detectedLanguage: column<string | null>('text', null),
    transcript: column<string | null>('text', null),
    /** The segments as JSON text, as the API shows them; null in lists, which do not read them. */
    segments: column<string | null>('text', null),
    /** Null until the job has completed, and where the request did not ask for them or they were not found. */
    speakers: column<SpeakerTime[] | null>('jsonb', null),
    /** Empty until the job has ended. */
    warnings: column<Warning[]>('jsonb', []),
    errorType: column<JobErrorType | null>('text', null),
    errorMessage: column<string | null>('text', null),
    /** Of `audio_fetch_failed`; null for the other errors. */
    errorReason: column<FetchFailureReason | null>('text', null),
    /** The status that the server answered, where it is the reason. */
    errorHttpStatus: column<number | null>('smallint', null),
    completedAt: column<Date | null>('timestamptz', null),
    /** When the ended job is to be erased, where the request named a time. */
    expiresAt: column<Date | null>('timestamptz', null),
  },
  /** By the database's clock, when the job is inserted. */
  timed: { createdAt: given<Date>('timestamptz') },
} as const;

type JobTable = typeof JOB_TABLE;

/** A job as it is stored. */
export type Job = ValuesOf<
  JobTable['accepted'] &
    JobTable['requested'] &
    JobTable['stored'] &
    JobTable['source'] &
    JobTable['executed'] &
    JobTable['ended'] &
    JobTable['timed']
> & {
  /** The words that the segments do not show, made by `packWords`; absent where they were not read. */
  words?: string | null;
  /** What it waits for beside its turn; absent where that was not read. */
  wait?: Wait | null;
};

/** A job without its text. */
export type JobHead = Omit<Job, 'transcript' | 'segments' | 'words'>;

/** What a request asks for. */
export type RequestedOfJob = ValuesOf<JobTable['requested']>;
/** A job as a request describes it. */
export type NewJob = ValuesOf<JobTable['accepted']> & RequestedOfJob;

/** What a request asks for that names nothing. */
export const NOTHING_REQUESTED = initialValues(JOB_TABLE.requested);
/** Of a job whose audio is to be fetched. */
export const NO_AUDIO = initialValues(JOB_TABLE.stored);
/** The result of a job that has not ended. */
export const NO_RESULT = initialValues(JOB_TABLE.ended);

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
