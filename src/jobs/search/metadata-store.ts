import type { Sql } from '../../db/database.ts';
import { defineStatement } from '../../db/statements/named-parameters.ts';
import type { MetadataPair } from '../../rules/search/metadata-pairs.ts';

/**
 * The CTE `pairs` of a statement on one shard: it inserts the pairs by which lists find a job. The parameters' values
 * are those of `pairValues`, and `$shard`, `$accountId`, `$jobId`.
 * @param condition  SQL: nothing is inserted unless it is true
 */
export const insertPairsIf = (condition: string): string => `
      pairs as (
        insert into job_metadata (shard, account_id, key, value, job_id)
        select $shard::smallint, $accountId, pair.key, pair.value, $jobId
        from json_to_recordset($pairs::json) as pair (key text, value text)
        where ${condition}
      )`;

/** The values of `insertPairsIf`. */
export function pairValues(pairs: MetadataPair[]) {
  return { pairs: JSON.stringify(pairs) };
}

/** SQL that deletes the pairs of jobs. @param jobIds  SQL of an array of ids; the statement's `$1` is the shard */
export const deletePairsOf = (jobIds: string): string => `
        delete from job_metadata
        where shard = $1 and job_id = any(${jobIds})`;

/** Replaces the pairs by which lists find a job, in the transaction that has locked it. */
export async function replacePairs(
  tx: Sql,
  { shard, accountId, id: jobId }: { shard: number; accountId: string; id: string },
  pairs: MetadataPair[],
): Promise<void> {
  await tx.run({ name: 'delete_pairs', text: deletePairsOf('array[$2::text]'), values: [shard, jobId] });
  await tx.run(INSERT_PAIRS({ shard, accountId, jobId, ...pairValues(pairs) }));
}

const INSERT_PAIRS = defineStatement({ name: 'insert_pairs' }, `with ${insertPairsIf('true')} select`);
