import { component, idSchema, nullable, oneOf, pageSchema, rawJson, Type, timeSchema } from '../http/schema.ts';
import type { RawJson } from '../platform/json.ts';
import { PLANS } from '../rules/accounts/plan.ts';
import { TRACKS_MAX } from '../rules/channels/audio-tracks.ts';
import { JOB_STATES, WAITING_FOR } from '../rules/jobs/job-state.ts';
import { WARNING_MESSAGES, type WarningCode } from '../rules/jobs/warnings.ts';
import { FETCH_FAILURE_REASONS } from '../rules/network/fetch-failure.ts';
import { JOB_ERROR_TYPES } from './job.ts';
import { shownOptionsSchema } from './options.ts';

/** The id of the examples. */
export const JOB_ID = 'job_01kamz2f3q8r5t7v9wxyzabcde';

/** Where a part of the transcript is. */
export const timed = {
  channel: Type.Optional(Type.Integer({ minimum: 0, maximum: 7, description: 'From 0; with multichannel.' })),
  start: Type.Number({ minimum: 0, description: 'Seconds from the start of the audio.' }),
  end: Type.Number({ minimum: 0 }),
  text: Type.String(),
  confidence: nullable(Type.Number({ minimum: 0, maximum: 1 }), '0 to 1; null where the engine gives none.'),
  speaker: Type.Optional(nullable(Type.String(), 'With diarize=true; null where the speakers were not found.')),
};
/** Of a word without times of the engine. */
export const ESTIMATED = 'The engine gives this word no times: they lie between those of its neighbours. Else absent.';
/** A word of a transcript. */
export const wordSchema = Type.Object(
  {
    ...timed,
    estimated: Type.Optional(Type.Literal(true, { description: ESTIMATED })),
  },
  component('Word'),
);
/** A segment of a transcript. */
export const segmentSchema = Type.Object(
  {
    ...timed,
    no_speech_share: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'The share of its time in which no speech was detected; absent without a voice detector.',
      }),
    ),
    words: Type.Optional(Type.Array(wordSchema, { description: 'With timestamps=word.' })),
  },
  component('Segment', {
    channel: 0,
    start: 0,
    end: 3.2,
    text: 'Ask not what your country can do for you.',
    confidence: 0.93,
  }),
);

// In the order of jsonb, in which tracks are stored and sent.
const AUDIO_TRACK_EXAMPLE = { codec: 'mp3', index: 0, title: null, default: true, channels: 1, language: 'en' };

const warningSchema = Type.Object(
  {
    code: oneOf(Object.keys(WARNING_MESSAGES) as WarningCode[], { description: 'Later versions may add codes.' }),
    message: Type.String(),
    start: Type.Optional(Type.Number({ minimum: 0, description: 'Seconds; absent: about all of the audio.' })),
    end: Type.Optional(Type.Number({ minimum: 0 })),
    bytes: Type.Optional(Type.Integer({ minimum: 0, description: 'Of the file, which are not read.' })),
  },
  component('Warning', { code: 'text_cut', message: WARNING_MESSAGES.text_cut, start: 29.4, end: 58.8 }),
);

const audioTrackSchema = Type.Object(
  {
    index: Type.Integer({ minimum: 0, description: 'Among the audio tracks, from 0.' }),
    language: nullable(Type.String(), 'As the file says; null where it names none.'),
    title: nullable(Type.String(), 'As the file says.'),
    codec: Type.String(),
    channels: Type.Integer({ minimum: 0 }),
    default: Type.Boolean({ description: 'Whether the file marks the track as the one to play.' }),
  },
  component('AudioTrack', AUDIO_TRACK_EXAMPLE),
);

/** What a queued job waits for, and since when. */
export const waiting = {
  waiting_for: nullable(oneOf(WAITING_FOR), 'What a queued job waits for beside its turn; it does not fail meanwhile.'),
  waiting_since: Type.Optional({ ...timeSchema, description: 'While `waiting_for` is not null.' }),
};

const jobHead = {
  id: idSchema('job', JOB_ID),
  status: oneOf(JOB_STATES),
  ...waiting,
  plan: oneOf(PLANS),
  model: nullable(Type.String()),
  language: nullable(Type.String(), 'The spoken language.'),
  translated_to: nullable(
    oneOf(['en']),
    'The language of the text, where a translation was asked for; null until completed.',
  ),
  audio: Type.Object({
    filename: nullable(Type.String()),
    format: nullable(Type.String(), 'Null until audio from a URL is stored; likewise length and size.'),
    duration_seconds: nullable(Type.Number({ minimum: 0 })),
    size_bytes: nullable(Type.Integer({ minimum: 0 })),
    source: nullable(Type.String(), 'Origin and path of audio_url; null for an upload.'),
    channels: nullable(
      Type.Integer({ minimum: 0 }),
      'Of the audio track that is transcribed; null while it is unknown.',
    ),
    tracks: Type.Array(audioTrackSchema, {
      maxItems: TRACKS_MAX,
      description: 'The audio tracks of the file; empty while they are unknown.',
    }),
  }),
  title: nullable(Type.String(), 'A name of your own; null without one.'),
  tags: Type.Array(Type.String(), { description: 'Words of your own.' }),
  metadata: rawJson<RawJson | null>({
    description: 'Any JSON value, as the request carried it, unchanged; null without it.',
  }),
  options: shownOptionsSchema,
  text: nullable(Type.String(), 'Null until completed.'),
};
const segments = rawJson<RawJson | null>({
  ...nullable(Type.Array(segmentSchema), 'Null until completed.'),
});
const speakerSchema = Type.Object(
  {
    id: Type.String({ description: 'As in segments and words.' }),
    seconds: Type.Number({ minimum: 0, description: 'How long the speaker speaks.' }),
  },
  component('Speaker', { id: 'A', seconds: 61.4 }),
);

/** The fields of a job after its segments. */
export const jobTail = {
  speakers: nullable(
    Type.Array(speakerSchema),
    'In the order of their first words. Null unless asked for with diarize, until completed, and where they were not found.',
  ),
  warnings: Type.Array(warningSchema, { description: 'Empty when there are none, and until the job has ended.' }),
  error: nullable(
    Type.Object({
      type: oneOf(JOB_ERROR_TYPES),
      message: Type.String(),
      reason: Type.Optional(oneOf(FETCH_FAILURE_REASONS, { description: 'With audio_fetch_failed.' })),
      http_status: Type.Optional(
        Type.Integer({ description: 'With audio_fetch_failed: what the server of the audio answered.' }),
      ),
    }),
  ),
  cost: nullable(Type.Number({ minimum: 0 }), 'Credits; null until known.'),
  progress: Type.Number({ minimum: 0, maximum: 1 }),
  created_at: timeSchema,
  started_at: nullable(timeSchema),
  completed_at: nullable(timeSchema),
  expires_at: nullable(
    timeSchema,
    'From when on the job is erased; null without delete_after_seconds, and until it has ended.',
  ),
};

const JOB_EXAMPLE = {
  id: JOB_ID,
  status: 'completed',
  waiting_for: null,
  plan: 'pro',
  model: 'parakeet-tdt-0.6b-v3',
  language: 'en',
  translated_to: null,
  audio: {
    filename: 'a.mp3',
    format: 'mp3',
    duration_seconds: 12.345,
    size_bytes: 98765,
    source: null,
    channels: 1,
    tracks: [AUDIO_TRACK_EXAMPLE],
  },
  title: 'Interview with Anna',
  tags: ['interview'],
  metadata: { order: 42 },
  options: { language: 'en', keywords: ['Kennedy'], diarize: true },
  text: 'Ask not what your country can do for you.',
  segments: [{ start: 0, end: 3.2, text: 'Ask not what your country can do for you.', confidence: 0.93, speaker: 'A' }],
  speakers: [{ id: 'A', seconds: 3.2 }],
  warnings: [],
  error: null,
  cost: 0.412,
  progress: 1,
  created_at: '2026-11-21T09:30:00.000Z',
  started_at: '2026-11-21T09:30:00.120Z',
  completed_at: '2026-11-21T09:30:01.480Z',
  expires_at: null,
};

const { title: _titleOfExample, tags: _tagsOfExample, ...example } = JOB_EXAMPLE;
export const JOB_IN_EVENT_EXAMPLE = example;

/** A job as its own endpoints show it. */
export const jobSchema = Type.Object(
  {
    ...jobHead,
    segments,
    ...jobTail,
    queue_position: Type.Optional(
      Type.Integer({ minimum: 1, description: '1 for the next to start; while it is queued.' }),
    ),
    live: Type.Optional(
      Type.Object(
        {
          connected: Type.Boolean(),
          offset_seconds: Type.Number({ description: 'Seconds of audio that are stored.' }),
        },
        { description: 'Of a live session, until it ends.' },
      ),
    ),
    webhook_url: Type.Optional(
      Type.String({ description: 'Where the webhook of this job alone sends to. Only where the request gave one.' }),
    ),
    webhook_secret: Type.Optional(
      Type.String({
        description:
          'Only in the answer to the request that sent the job: signs the deliveries to webhook_url, where the request gave no secret.',
      }),
    ),
  },
  component('Job', JOB_EXAMPLE),
);

/** A job as lists show it. */
export const jobInListSchema = Type.Object(
  {
    ...jobHead,
    text_cut: Type.Optional(
      Type.Boolean({
        description: 'The text has more than the 500 characters that lists show; GET the job for all.',
      }),
    ),
    ...jobTail,
  },
  component('JobInList'),
);

const { title: _title, tags: _tags, ...headInEvent } = jobHead;

/** A job in the body of an event: without the names that its account may give it later. */
export const jobInEventSchema = Type.Object(
  {
    ...headInEvent,
    text: Type.Optional(jobHead.text),
    segments: Type.Optional(segments),
    segments_omitted: Type.Optional(
      Type.Boolean({ description: 'The segments were left out, because the body would be over 256 KiB.' }),
    ),
    text_omitted: Type.Optional(
      Type.Boolean({ description: 'The text was left out too, because the body would still be over 1 MiB.' }),
    ),
    deleted: Type.Optional(Type.Boolean({ description: 'The job was erased since.' })),
    ...jobTail,
  },
  component('JobInEvent'),
);

/** A page of the list of jobs. */
export const jobListSchema = pageSchema('JobList', jobInListSchema);
