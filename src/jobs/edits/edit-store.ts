import type { Sql } from '../../db/database.ts';
import type { TranscriptEdits } from '../../rules/jobs/transcript-edits.ts';
import type { SpeakerNames } from '../../rules/speakers/speaker-names.ts';
import type { Job } from '../job.ts';
import { JOB_COLUMNS } from '../store.ts';

type JobKey = { shard: number; id: string };

/** The edits of a job's transcript; all are null where it was never edited, or all edits were taken back. */
export type StoredEdits = { edits: TranscriptEdits | null; speakerNames: SpeakerNames | null; editedAt: Date | null };

const COLUMNS = 'edits, speaker_names as "speakerNames", edited_at as "editedAt"';

export async function findEdits(sql: Sql, { shard, id }: JobKey): Promise<StoredEdits> {
  const [row] = await sql.rows<StoredEdits>({
    name: 'find_transcript_edits',
    isBrief: true,
    text: `select ${COLUMNS} from jobs where shard = $1 and id = $2`,
    values: [shard, id],
  });
  return row ?? { edits: null, speakerNames: null, editedAt: null };
}

/** A job with its edits; null when the account has no such job. */
export async function findForEdit(
  sql: Sql,
  { shard, accountId, id }: JobKey & { accountId: string },
): Promise<(Job & StoredEdits) | null> {
  const [row] = await sql.rows<Job & StoredEdits>({
    name: 'find_job_for_edit',
    text: `
      select ${JOB_COLUMNS}, ${COLUMNS}
      from jobs
      where shard = $1 and id = $2 and account_id = $3`,
    values: [shard, id, accountId],
  });
  return row ?? null;
}

/** Replaces the edits of a completed job. Null when the job is gone, or it has other edits than `before`. */
export async function saveEdits(
  sql: Sql,
  { shard, id }: JobKey,
  { edits, speakerNames, before }: { edits: TranscriptEdits; speakerNames: SpeakerNames; before: StoredEdits },
): Promise<StoredEdits | null> {
  const [row] = await sql.rows<StoredEdits>({
    name: 'save_transcript_edits',
    text: `
      with clock as (
        select clock_timestamp() as moment
      )
      update jobs
      set edits = $3, speaker_names = $4,
        edited_at = case when coalesce($3::jsonb, $4::jsonb) is not null then (select moment from clock) end
      where shard = $1 and id = $2 and state = 'completed'
        and edits is not distinct from $5::jsonb and speaker_names is not distinct from $6::jsonb
      returning ${COLUMNS}`,
    values: [shard, id, ...[edits, speakerNames, before.edits, before.speakerNames].map(jsonOrNull)],
  });
  return row ?? null;
}

function jsonOrNull(entries: Record<string, string> | null): string | null {
  return entries !== null && Object.keys(entries).length > 0 ? JSON.stringify(entries) : null;
}
