import { component, DOCUMENTED, oneOf, Type } from '../../http/schema.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { urlField } from '../../webhooks/endpoints/fields.ts';
import { captionFields } from '../caption-options.ts';
import { optionFormFields, optionJsonFields } from '../options.ts';
import { TRANSCRIPT_FORMATS } from '../transcript.ts';
import { nameFields } from './names.ts';

/** A boolean field of a multipart form. */
const formBoolean = (description: string) => oneOf(['true', 'false', '1', '0'], { default: 'false', description });

/** The file of a multipart form. */
export const fileSchema = Type.Unsafe<string>({
  type: 'string',
  format: 'binary',
  description: 'Audio, or video with an audio track; exactly one part, under any name.',
});

export const languageSchema = Type.String({
  description: 'BCP 47 code such as en; absent: detected where the model can.',
  examples: ['en'],
  [DOCUMENTED]: { pattern: '^[a-z]{2}(-[A-Z]{2})?$' },
});

const AUDIO_URL_HEADERS = { Authorization: 'Bearer 4f1c2a' };

const audioUrlSchema = Type.String({
  description:
    'In place of the file: an https URL, port 443, at a public address, from which the service fetches the audio. ' +
    'Up to 5 redirects are followed, each under the same rules. Its query is never shown or logged.',
  maxLength: 4096,
  examples: ['https://bucket.example.com/calls/a.mp3?signature=2f6a'],
  // A name that never resolves, so that generated requests fetch nothing.
  [DOCUMENTED]: {
    maxLength: 2000,
    pattern: '^https://[a-z]{1,20}\\.example\\.(com|org)/[A-Za-z0-9._~/-]*(\\?[A-Za-z0-9._~=&-]*)?$',
  },
});
const audioUrlHeadersSchema = Type.Record(Type.String(), Type.String(), {
  description:
    'Headers for the fetch, at most 10 and 4 KiB, sent to the origin of audio_url only. Not Host, Content-Length, ' +
    'Connection, Transfer-Encoding, Range, Accept-Encoding, Cookie and the like. In a form: JSON text.',
  examples: [AUDIO_URL_HEADERS],
});

/** The fields of POST /v1/transcribe beside the audio. */
const transcribeFields = {
  plan: Type.Optional(oneOf(PLANS, { description: "Absent: the account's plan." })),
  async: Type.Optional(formBoolean('true: a 202 at once; else the answer waits for the end of the job.')),
  metadata: Type.Optional(
    Type.Unknown({
      description: 'Any JSON value, at most 4,096 bytes of UTF-8; its text comes back unchanged.',
      examples: [{ order: 42 }],
    }),
  ),
  ...nameFields,
  language: Type.Optional(languageSchema),
  timestamps: Type.Optional(oneOf(['segment', 'word'], { default: 'segment' })),
  response_format: Type.Optional(
    oneOf(TRANSCRIPT_FORMATS, { default: 'json', description: 'Other than json only without async.' }),
  ),
  webhook_url: Type.Optional(
    Type.Unsafe<string>({
      ...urlField,
      description:
        'The events of this job go there too, under the rules for webhooks; it does not count as a webhook of the plan. JOB_WEBHOOKS says which accounts may.',
    }),
  ),
  webhook_secret: Type.Optional(
    Type.String({
      description:
        'Signs these deliveries: `whsec_` and the base64 of 24 to 64 random bytes. Without it one is made, and shown in the answer to this request only. Needs webhook_url.',
      examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo='],
      [DOCUMENTED]: { pattern: '^whsec_[A-Za-z0-9+/]{43}=$' },
    }),
  ),
  ...optionFormFields,
  ...captionFields,
};

/**
 * The form of POST /v1/transcribe, for the API reference; `api/request.ts` reads the form. The descriptions, not the
 * schema, say that there is either a file or a URL, and that `response_format` is for synchronous requests: from a
 * union of required fields, generators of clients make a type that cannot be sent or does not compile.
 */
export const transcribeForm = Type.Object({
  file: Type.Optional(fileSchema),
  audio_url: Type.Optional(audioUrlSchema),
  audio_url_headers: Type.Optional(audioUrlHeadersSchema),
  ...transcribeFields,
});

/** The JSON body of POST /v1/transcribe with `audio_url`, for the API reference. */
export const transcribeJson = Type.Object(
  {
    audio_url: audioUrlSchema,
    audio_url_headers: Type.Optional(audioUrlHeadersSchema),
    ...transcribeFields,
    ...optionJsonFields,
    async: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'true: a 202 at once; else the answer waits for the end of the job.',
      }),
    ),
    metadata: Type.Optional(
      Type.Union([Type.String(), Type.Object({}), Type.Array(Type.Unknown())], {
        description:
          'A string that contains JSON, or an object or list; at most 4,096 bytes of UTF-8, and its text comes back unchanged.',
        examples: ['{"order": 42}'],
        [DOCUMENTED]: { pattern: '^\\{"[a-z]{1,10}": [1-9][0-9]{0,5}\\}$' },
      }),
    ),
  },
  component('TranscribeByUrl', {
    audio_url: 'https://bucket.example.com/calls/a.mp3?signature=2f6a',
    audio_url_headers: AUDIO_URL_HEADERS,
    async: true,
    metadata: '{"order": 42}',
  }),
);
