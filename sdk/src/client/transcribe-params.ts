import type { TranscribeByUrl } from '../api.ts';
import type { JobFields } from './audio/upload.ts';

/** Fields that belong to the audio, to synchronous requests, or that have another form here. */
type Left =
  | 'audio_url'
  | 'audio_url_headers'
  | 'async'
  | 'metadata'
  | 'response_format'
  | 'max_line_length'
  | 'max_lines'
  | 'min_duration'
  | 'max_duration'
  | 'max_chars_per_second'
  | 'min_gap';

/** What a job is asked for, in the names of the API. */
export type TranscribeParams = Omit<TranscribeByUrl, Left> & {
  /** Any JSON value of at most 4,096 bytes; it comes back with the job and in its events. */
  metadata?: unknown;
  /** The same as JSON text, in which numbers keep all their digits. */
  metadataText?: string | undefined;
};

/** The fields of a request that creates a job; it is answered at once. */
export function jobFields({ metadata, metadataText, ...params }: TranscribeParams): JobFields {
  const text = metadataText ?? (metadata === undefined ? undefined : JSON.stringify(metadata));
  return { ...params, ...(text !== undefined && { metadata: text }), async: true };
}
