import { component, type Static, Type, timeSchema } from '../../http/schema.ts';
import { transcriptSchema } from '../documents/transcript-schema.ts';
import { type TranscriptJob, transcriptJson } from '../transcript.ts';

const { text, language, translated_to, duration_seconds, speakers, segments } = transcriptSchema.properties;

/** A transcript as whoever has a link to it sees it. */
export const sharedTranscriptSchema = Type.Object(
  {
    name: Type.String({ description: 'The title of the job, else the name of the audio file, else `Transcript`.' }),
    created_at: { ...timeSchema, description: 'When the audio was sent.' },
    expires_at: { ...timeSchema, description: 'When the link ends.' },
    text,
    language,
    translated_to,
    duration_seconds,
    speakers,
    segments,
  },
  component('SharedTranscript'),
);

const UNNAMED = 'Transcript';

/** A job with a name, and without the fields of the account that documents show. */
export function withoutAccount(job: TranscriptJob): TranscriptJob & { filename: string } {
  return { ...job, title: null, filename: job.title || job.filename || UNNAMED, audioSource: null, model: null };
}

/** @param expiresAt  of the link */
export function sharedJson(
  job: ReturnType<typeof withoutAccount>,
  expiresAt: Date,
): Static<typeof sharedTranscriptSchema> {
  const { version: _version, edited_at: _editedAt, merged_speakers: _merged, ...shown } = transcriptJson(job);
  return {
    name: job.filename,
    created_at: job.createdAt.toISOString(),
    expires_at: expiresAt.toISOString(),
    ...shown,
  };
}
