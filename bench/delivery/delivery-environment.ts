import { setTimeout as delay } from 'node:timers/promises';
import type { Database, Sql } from '../../src/db/database.ts';
import { makeId } from '../../src/platform/clock.ts';
import { shardOf } from '../../src/rules/shard.ts';
import { eventBody } from '../../src/webhooks/events/body.ts';
import { makeWebhookSecret, openSecretBox } from '../../src/webhooks/secrets/secrets.ts';

export type BenchWebhook = { shard: number; accountId: string; id: string };

/** Accounts with webhooks that point at these URLs in turn. */
export async function makeWebhooks(
  db: Sql,
  options: { accounts: number; webhooksEach: number; urls: string[]; secretsKey: Buffer },
): Promise<BenchWebhook[]> {
  const secretBox = openSecretBox(options.secretsKey);
  const webhooks: BenchWebhook[] = [];
  for (let a = 0; a < options.accounts; a++) {
    const accountId = makeId('acct');
    const shard = shardOf(accountId);
    await db.run({
      text: `insert into accounts (shard, id, name, plan, unlimited, created_at)
        values ($1, $2, 'bench', 'pro', true, now())`,
      values: [shard, accountId],
    });
    for (let w = 0; w < options.webhooksEach; w++) {
      const id = makeId('wh');
      const url = options.urls[webhooks.length % options.urls.length];
      await db.run({
        text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
          values ($1, $2, $3, $4, '{transcription.completed}', $5, now(), now())`,
        values: [shard, id, accountId, url, secretBox.seal(id, makeWebhookSecret())],
      });
      webhooks.push({ shard, accountId, id });
    }
  }
  return webhooks;
}

/** The bytes of an event of `bytes` or a little more. */
export function bodyOf(id: string, bytes: number): Buffer {
  const job = { id: 'job_bench', object: 'transcription', status: 'completed', text: '' };
  const envelope = { id, type: 'transcription.completed' as const, createdAt: new Date(), metadata: null };
  const empty = eventBody({ ...envelope, data: { job } });
  return eventBody({ ...envelope, data: { job: { ...job, text: 'x'.repeat(Math.max(0, bytes - empty.length)) } } });
}

export type Fill = { webhooks: BenchWebhook[]; count: number; bodyBytes: number };

// What one statement carries, so that its arrays stay small.
const ROWS_AT_ONCE = 2_000;
// More than inserting a row takes.
const MS_PER_ROW = 0.2;

/**
 * Events with one delivery each, over the webhooks in turn, in one transaction, which commits when they become due:
 * none is seen before all are there. Returns their ids.
 */
export async function insertDeliveries(
  db: Database,
  fill: Fill,
  beforeCommit?: () => Promise<void>,
): Promise<string[]> {
  const { webhooks, count, bodyBytes } = fill;
  const isLarge = count > ROWS_AT_ONCE;
  const dueAt = new Date(Date.now() + (isLarge ? MS_PER_ROW * count : 0));
  const eventIds: string[] = [];
  await db.transaction(async (tx) => {
    // It waits for the deliveries to become due.
    await tx.run({ text: 'set local idle_in_transaction_session_timeout = 0' });
    for (let done = 0; done < count; done += ROWS_AT_ONCE) {
      const rows = Array.from({ length: Math.min(ROWS_AT_ONCE, count - done) }, (_, at) => {
        const eventId = makeId('evt');
        const webhook = webhooks[(done + at) % webhooks.length]!;
        return {
          ...webhook,
          eventId,
          deliveryId: makeId('dl'),
          attemptId: makeId('dlv'),
          body: bodyOf(eventId, bodyBytes),
        };
      });
      for (const { eventId } of rows) eventIds.push(eventId);
      const column = <Name extends keyof (typeof rows)[number]>(name: Name) => rows.map((row) => row[name]);
      await tx.run({
        text: `insert into events (shard, id, account_id, type, body, created_at)
          select shard, id, account_id, 'transcription.completed', body, clock_timestamp()
          from unnest($1::smallint[], $2::text[], $3::text[], $4::bytea[]) as e (shard, id, account_id, body)`,
        values: [column('shard'), column('eventId'), column('accountId'), column('body')],
      });
      await tx.run({
        text: `insert into deliveries
            (shard, id, account_id, webhook_id, event_id, event_type, attempt_id, next_at, created_at)
          select d.shard, d.id, d.account_id, d.webhook_id, d.event_id, 'transcription.completed', d.attempt_id, $7::timestamptz,
            clock_timestamp()
          from unnest($1::smallint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
            as d (shard, id, account_id, webhook_id, event_id, attempt_id)`,
        values: [
          ...[column('shard'), column('deliveryId'), column('accountId'), column('id'), column('eventId')],
          ...[column('attemptId'), dueAt],
        ],
      });
    }
    for (const { shard } of webhooks) tx.notify('deliveries_due', String(shard));
    if (isLarge) await delay(Math.max(0, dueAt.getTime() - Date.now()));
    await beforeCommit?.();
  });
  return eventIds;
}
