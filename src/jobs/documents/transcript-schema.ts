import { component, nullable, oneOf, rawJson, Type, timeSchema } from '../../http/schema.ts';
import type { RawJson } from '../../platform/json.ts';
import { segmentSchema } from '../schemas.ts';

/** A completed job's transcript as JSON. */
export const transcriptSchema = Type.Object(
  {
    version: oneOf(['original', 'edited']),
    text: nullable(Type.String()),
    language: nullable(Type.String(), 'The spoken language.'),
    translated_to: nullable(oneOf(['en']), 'The language of the text, where a translation was asked for.'),
    duration_seconds: Type.Number({ minimum: 0 }),
    edited_at: nullable(timeSchema, 'When the shown version was last edited; null for the original.'),
    speakers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'The names that speakers were given, by their labels; absent where none was named.',
        examples: [{ A: 'Anna' }],
      }),
    ),
    merged_speakers: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: 'The speakers that are shown as another one, by their labels; absent where none was merged.',
        examples: [{ B: 'A' }],
      }),
    ),
    segments: rawJson<RawJson>(Type.Array(segmentSchema)),
  },
  component('Transcript'),
);

const textFile = (description: string) => Type.String({ description });

/** The media types of transcripts, without JSON. */
export const TRANSCRIPT_MEDIA = {
  'text/plain': textFile('The plain text.'),
  'application/x-subrip': textFile('SRT captions.'),
  'text/vtt': textFile('WebVTT captions.'),
};
