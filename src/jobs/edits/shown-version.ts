import type { Sql } from '../../db/database.ts';
import type { Job } from '../job.ts';
import type { TranscriptJob } from '../transcript.ts';
import { findEdits } from './edit-store.ts';
import { withText } from './edited-transcript.ts';
import { runTask, type TaskCaller } from './run-task.ts';

export const TRANSCRIPT_VERSIONS = ['edited', 'original'] as const;
export type TranscriptVersion = (typeof TRANSCRIPT_VERSIONS)[number];

/** A completed job with its edited transcript; unchanged where `version` is the original, or nothing was edited. */
export async function withVersion(
  sql: Sql,
  caller: TaskCaller,
  job: Job,
  version: TranscriptVersion,
): Promise<TranscriptJob> {
  if (version === 'original') return job;
  const stored = await findEdits(sql, job);
  return stored.editedAt === null ? job : withText(job, await runTask(caller, 'editText', job, stored), stored);
}
