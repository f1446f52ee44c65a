// A webhook of an account has the prefix wh_, that for its alerts wha_. The webhook of one job has whj_, and the rest
// of the job's id.

/** SQL of the condition for webhooks of accounts: those of jobs are not listed, and do not count. */
export const IS_OF_ACCOUNT = "id like 'wh\\_%'";

/** SQL of the id of a job's own webhook. @param jobId  SQL of the job's id */
export const WEBHOOK_ID_OF_JOB = (jobId: string) => `'whj_' || substring(${jobId} from 5)`;
