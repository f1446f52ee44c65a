import { memberText } from '#sdk/client/metadata-text.ts';
import { readJsonFields } from '../audio/upload/json-form.ts';
import { ApiError } from '../http/api-error.ts';
import { oneOf, type Static, Type } from '../http/schema.ts';
import { FIELD_BYTES, type JobRequest, LIST_FIELDS, readJobRequest, TEXT_FIELDS } from '../jobs/api/request.ts';
import type { LiveOptions } from '../jobs/live/live-store.ts';
import { liveOptionFields, NOT_LIVE } from '../jobs/options.ts';
import { nameFields } from '../jobs/request/names.ts';
import { transcribeJson } from '../jobs/request/schemas.ts';
import { PLANS, type Plan } from '../rules/accounts/plan.ts';
import { LIVE_ENCODINGS, LIVE_SAMPLE_RATES, type LiveSampleRate } from '../rules/live/encoding.ts';

// An option that is not wanted may be sent all the same.
const refused = Type.Optional(Type.Unknown({ description: 'Not offered for live sessions: a 400, but for false.' }));

/** The body of POST /v1/live. */
export const liveBody = Type.Object({
  plan: Type.Optional(oneOf(PLANS, { description: "Default: the account's plan." })),
  language: transcribeJson.properties.language,
  metadata: Type.Optional(
    Type.Union(
      [transcribeJson.properties.metadata, Type.Object({}, { additionalProperties: true }), Type.Array(Type.Unknown())],
      {
        description: 'JSON, or a string that contains it; at most 4,096 bytes of UTF-8; its text comes back unchanged.',
      },
    ),
  ),
  ...nameFields,
  timestamps: Type.Optional(oneOf(['segment', 'word'], { default: 'segment' })),
  ...liveOptionFields,
  encoding: Type.Optional(oneOf(LIVE_ENCODINGS, { default: 'pcm_s16le' })),
  sample_rate: Type.Optional(
    Type.Unsafe<LiveSampleRate>({ type: 'integer', enum: [...LIVE_SAMPLE_RATES], default: 16_000 }),
  ),
  partials: Type.Optional(Type.Boolean({ default: true, description: 'Send the words of the open segment.' })),
  endpointing_ms: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 5_000,
      default: 600,
      description: 'Silence that ends a segment, from 100; 0: none does.',
    }),
  ),
  max_segment_seconds: Type.Optional(Type.Integer({ minimum: 5, maximum: 30, default: 20 })),
  resume_seconds: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 600,
      default: 60,
      description: 'How long a session waits for a client that was cut off.',
    }),
  ),
  idle_seconds: Type.Optional(
    Type.Integer({
      minimum: 10,
      maximum: 3_600,
      default: 300,
      description: 'The session finishes after this time without audio.',
    }),
  ),
  ...Object.fromEntries(NOT_LIVE.map((name) => [name, refused])),
});

export type LiveBody = Partial<Static<typeof liveBody>>;

/**
 * What a session is asked for.
 * @throws ApiError  400 or 403, naming the field
 */
export function readLiveRequest(
  { body, bodyText }: { body: LiveBody; bodyText: string },
  accountPlan: Plan,
): { request: JobRequest; options: LiveOptions } {
  const given: Record<string, unknown> = body;
  const notLive = NOT_LIVE.find((name) => given[name]);
  if (notLive) throw invalid(notLive, `${notLive} is not offered for live sessions; retry the stored audio with it.`);
  const endpointingMs = body.endpointing_ms ?? 600;
  if (endpointingMs > 0 && endpointingMs < 100)
    throw invalid('endpointing_ms', 'endpointing_ms must be 0, or 100 to 5000.');
  return {
    request: readJobRequest(fieldsOf(body, bodyText), accountPlan),
    options: {
      encoding: body.encoding ?? 'pcm_s16le',
      sampleRate: body.sample_rate ?? 16_000,
      partials: body.partials ?? true,
      endpointingMs,
      maxSegmentSeconds: body.max_segment_seconds ?? 20,
      resumeSeconds: body.resume_seconds ?? 60,
      idleSeconds: body.idle_seconds ?? 300,
    },
  };
}

const JOB_FIELDS = [
  ...['plan', 'language', 'metadata', 'timestamps'],
  ...Object.keys({ ...nameFields, ...liveOptionFields }),
];

/** The fields that any job has, as those of a form. */
function fieldsOf(body: LiveBody, bodyText: string) {
  const given: Record<string, unknown> = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => JOB_FIELDS.includes(name) && value !== undefined),
  );
  // The text as it was written, in which numbers keep their digits.
  if (typeof body.metadata === 'object') given['metadata'] = memberText(bodyText, 'metadata');
  return readJsonFields(given, { fieldBytes: FIELD_BYTES, listFields: LIST_FIELDS, textFields: TEXT_FIELDS });
}

function invalid(param: string, message: string): ApiError {
  return new ApiError('invalid_request', message, { param });
}
