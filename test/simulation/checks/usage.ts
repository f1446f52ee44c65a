import type { Sql } from '../../../src/db/database.ts';
import { isTerminal } from '../../../src/rules/jobs/job-state.ts';
import type { Run } from './run.ts';

type Figures = { jobs: number; failed: number; canceled: number; audioMs: number; costUnits: number };

/** Each job that ended counts once in the usage of its account, with what it cost, erased or not. */
export async function checkUsage(admin: Sql, run: Run, report: (text: string) => void): Promise<void> {
  const expected = new Map<string, Figures>();
  for (const { what, before, after } of run.changes) {
    if (what !== 'job' || !before || !after || isTerminal(before.state) || !isTerminal(after.state)) continue;
    const known = expected.get(after.account_id) ?? { jobs: 0, failed: 0, canceled: 0, audioMs: 0, costUnits: 0 };
    expected.set(after.account_id, {
      jobs: known.jobs + 1,
      failed: known.failed + Number(after.state === 'failed'),
      canceled: known.canceled + Number(after.state === 'canceled'),
      audioMs: known.audioMs + after.duration_ms,
      costUnits: known.costUnits + after.cost_units,
    });
  }
  const rows = await admin.rows<Figures & { id: string; bucket: string }>({
    text: `select account_id as id, bucket, sum(jobs)::bigint as jobs, sum(failed)::bigint as failed,
        sum(canceled)::bigint as canceled, sum(audio_ms)::bigint as "audioMs", sum(cost_units)::bigint as "costUnits"
      from job_usage group by account_id, bucket`,
  });
  if (rows.length !== 2 * expected.size) report(`usage: ${rows.length / 2} accounts and not ${expected.size}`);
  for (const { id, bucket, ...figures } of rows) {
    const [found, wanted] = [figures, expected.get(id)].map((each) => JSON.stringify(each));
    if (found !== wanted) report(`usage: ${id} has ${found} by ${bucket} and not ${wanted}`);
  }
}
