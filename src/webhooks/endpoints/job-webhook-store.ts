import type { Sql } from '../../db/database.ts';
import { IS_OF_ACCOUNT } from '../../db/statements/webhook-ids.ts';
import { webhookIdOfJob } from '../../rules/ids.ts';
import type { AccountRef } from '../../rules/shard.ts';
import type { EventType } from '../events/event-types.ts';
import { notifyWebhookChanged } from './store.ts';

const JOB_EVENTS: EventType[] = ['transcription.completed', 'transcription.failed'];

/** @property secret  sealed for the id */
export type NewJobWebhook = { id: string; url: string; secret: Buffer };

/** Inserts the webhook of a job, in the transaction that inserts the job. It subscribes to every event of a job. */
export async function insertWebhookOfJob(
  tx: Sql,
  { shard, accountId }: AccountRef,
  { id, url, secret }: NewJobWebhook,
): Promise<void> {
  await tx.run({
    name: 'insert_webhook_of_job',
    text: `
      insert into webhooks (shard, account_id, id, url, events, secret, created_at, updated_at)
      select $1, $2, $3, $4, $5, $6, moment, moment
      from (select clock_timestamp() as moment) as clock`,
    values: [shard, accountId, id, url, JOB_EVENTS, secret],
  });
}

/** SQL that deletes webhooks. @param ids  SQL of an array of ids; the statement's `$1` is the shard */
export const deleteWebhooksOf = (ids: string): string => `
        delete from webhooks
        where shard = $1 and id = any(${ids})`;

/**
 * Locks the webhook of a job, if it has one, before its deliveries are locked: who records attempts locks webhooks
 * first, and two transactions in different orders would wait for each other.
 */
export async function lockWebhookOfJob(tx: Sql, { shard, jobId }: { shard: number; jobId: string }): Promise<void> {
  await tx.rows({
    name: 'lock_webhook_of_job',
    text: 'select 1 from webhooks where shard = $1 and id = $2 for update',
    values: [shard, webhookIdOfJob(jobId)],
  });
}

/** Deletes the webhook of a job, if it has one; what waits for it is dropped when it is due. */
export async function deleteWebhookOfJob(tx: Sql, { shard, jobId }: { shard: number; jobId: string }): Promise<void> {
  const id = webhookIdOfJob(jobId);
  const deleted = await tx.run({
    name: 'delete_webhook_of_job',
    text: deleteWebhooksOf('array[$2::text]'),
    values: [shard, id],
  });
  if (deleted > 0) notifyWebhookChanged(tx, id);
}

// Of more of them the deliverers learn within a minute.
const MAX_NOTIFIED = 1_000;

/** Makes the deliverers read the account's webhooks again, and those of its jobs for which deliveries wait. */
export async function notifyAccountChanged(tx: Sql, { shard, accountId }: AccountRef): Promise<void> {
  const webhooks = await tx.rows<{ id: string }>({
    text: `
      select id
      from webhooks
      where shard = $1 and account_id = $2 and ${IS_OF_ACCOUNT}
      union
      (
        select webhook_id
        from deliveries
        where shard = $1 and account_id = $2 and webhook_id like 'whj\\_%' and attempt_id > ''
        limit $3
      )`,
    values: [shard, accountId, MAX_NOTIFIED],
  });
  for (const { id } of webhooks) notifyWebhookChanged(tx, id);
}

/** Where the webhook of a job sends to, and its sealed secret; null when the job has none. */
export async function findWebhookOfJob(
  sql: Sql,
  { shard, jobId }: { shard: number; jobId: string },
): Promise<Pick<NewJobWebhook, 'url' | 'secret'> | null> {
  const rows = await sql.rows<Pick<NewJobWebhook, 'url' | 'secret'>>({
    name: 'find_webhook_of_job',
    isBrief: true,
    text: 'select url, secret from webhooks where shard = $1 and id = $2',
    values: [shard, webhookIdOfJob(jobId)],
  });
  return rows[0] ?? null;
}
