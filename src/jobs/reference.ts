import { Type } from '../http/schema.ts';
import { JOB_STATES } from '../rules/job-state.ts';
import { PLANS } from '../rules/plan.ts';
import { TRANSCRIPT_FORMATS } from './transcript.ts';

// For the API reference alone: the form is read by request.ts as it streams in, and answers are not validated.

const oneOf = (words: readonly string[]) => Type.Unsafe<string>({ type: 'string', enum: words });
const time = Type.String({ format: 'date-time' });
const orNull = <Schema extends Parameters<typeof Type.Union>[0][number]>(schema: Schema) =>
  Type.Union([schema, Type.Null()]);

/** The form of POST /v1/transcribe. */
export const transcribeForm = Type.Object({
  file: Type.Unsafe<string>({
    type: 'string',
    format: 'binary',
    description: 'Audio, or video with an audio track; exactly one part, under any name.',
  }),
  plan: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: PLANS, description: "Absent: the account's plan." })),
  async: Type.Optional(
    Type.Boolean({ default: false, description: 'true: a 202 at once; else the answer waits for the end of the job.' }),
  ),
  metadata: Type.Optional(
    Type.String({ description: 'JSON text, at most 4,096 bytes of UTF-8; comes back unchanged.' }),
  ),
  language: Type.Optional(
    Type.String({ description: 'BCP 47 code such as en; absent: detected where the model can.' }),
  ),
  timestamps: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['segment', 'word'], default: 'segment' })),
  response_format: Type.Optional(
    Type.Unsafe<string>({
      type: 'string',
      enum: TRANSCRIPT_FORMATS,
      default: 'json',
      description: 'Other than json without async only.',
    }),
  ),
});

const timed = {
  start: Type.Number({ description: 'Seconds from the start of the audio.' }),
  end: Type.Number(),
  text: Type.String(),
  confidence: orNull(Type.Number({ description: '0 to 1.' })),
};

const segments = Type.Array(
  Type.Object({
    ...timed,
    words: Type.Optional(Type.Array(Type.Object(timed), { description: 'With timestamps=word.' })),
  }),
);

const jobFields = {
  id: Type.String(),
  status: oneOf(JOB_STATES),
  plan: oneOf(PLANS),
  model: orNull(Type.String()),
  language: orNull(Type.String()),
  audio: Type.Object({
    filename: orNull(Type.String()),
    format: Type.String(),
    duration_seconds: Type.Number(),
    size_bytes: Type.Integer(),
  }),
  metadata: Type.Unsafe<unknown>({ description: 'As the request carried it.' }),
  text: orNull(Type.String({ description: 'Once completed.' })),
  error: orNull(Type.Object({ type: Type.String(), message: Type.String() })),
  cost: orNull(Type.Number({ description: 'Credits; null until known.' })),
  progress: Type.Number({ description: '0 to 1.' }),
  created_at: time,
  started_at: orNull(time),
  completed_at: orNull(time),
};

/** A job as its own endpoints answer it. */
export const jobSchema = Type.Object({
  ...jobFields,
  segments: orNull(segments),
  queue_position: Type.Optional(Type.Integer({ description: '1 for the next to start; while it is queued.' })),
});

/** A page of the list of jobs. */
export const jobListSchema = Type.Object({
  data: Type.Array(Type.Object(jobFields), { description: 'Jobs without segments.' }),
  has_more: Type.Boolean(),
  next_cursor: orNull(Type.String()),
});
