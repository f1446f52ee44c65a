import { chunkTranscript, type SearchSegment, type TranscriptChunk } from '../../rules/search/chunks.ts';
import { baseLanguage, languageTag, ownerTag } from '../../rules/search/tags.ts';
import type { Job } from '../job.ts';
import { stemOf } from './stemmers.ts';

type StoredSegment = SearchSegment & { words?: unknown; confidence?: unknown };

/** The chunks of a completed job's transcript; none of any other job. */
export function chunksOf(job: Job): TranscriptChunk[] {
  if (job.state !== 'completed' || job.segments === null) return [];
  const language = baseLanguage(job.options.translate_to ?? job.detectedLanguage ?? job.language);
  const tags = [ownerTag(job.accountId), ...(language === null ? [] : [languageTag(language)])];
  // Without the words and what else a stored segment has.
  const segments = (JSON.parse(job.segments) as StoredSegment[]).map(
    ({ words: _words, confidence: _confidence, ...segment }) => segment,
  );
  return chunkTranscript(segments, { tags, language, stem: stemOf });
}
