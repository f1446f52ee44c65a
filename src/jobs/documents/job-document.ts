import { type TranscriptDocument, transcriptDocument } from '../../rules/documents/transcript-document.ts';
import { spokenLanguage, type TranscriptJob, translatedTo } from '../transcript.ts';

type StoredSegment = { start: number; text: string; speaker?: string | null; channel?: number };

/** A completed job's transcript for readers. It is called like the job, else its file, else its URL, else its id. */
export function jobDocument(job: TranscriptJob, { hasNames }: { hasNames: boolean }): TranscriptDocument {
  const stored = JSON.parse(job.segments ?? '[]') as StoredSegment[];
  const names = new Set(Object.values(job.speakerNames ?? {}));
  const segments = stored.map((segment) => ({
    startSeconds: segment.start,
    text: segment.text,
    name: hasNames ? voiceOf(segment, names) : null,
  }));
  return transcriptDocument(job.title || job.filename || job.audioSource || job.id, segments, {
    createdAt: job.createdAt,
    durationMs: job.durationMs,
    model: job.model,
    language: spokenLanguage(job),
    translatedTo: translatedTo(job),
    isEdited: job.editedAt !== undefined,
  });
}

/**
 * Anna, Speaker B, Channel 2, or Speaker A, channel 1.
 * @param names  those that were given to speakers, which have no word before them
 */
function voiceOf({ speaker, channel }: StoredSegment, names: ReadonlySet<string>): string | null {
  // Viewers count channels from one.
  const channelName = channel === undefined ? null : `Channel ${channel + 1}`;
  if (!speaker) return channelName;
  const name = names.has(speaker) ? speaker : `Speaker ${speaker}`;
  return channelName === null ? name : `${name}, ${channelName.toLowerCase()}`;
}
