import type { Database } from '../src/db/database.ts';
import { makeId } from '../src/platform/clock.ts';
import { shardOf } from '../src/rules/shard.ts';
import type { ClaimedDelivery } from '../src/webhooks/deliveries/claim-store.ts';
import type { FinishedAttempt } from '../src/webhooks/deliveries/finish-store.ts';
import { emitEvent } from '../src/webhooks/events/emit.ts';
import { makeWebhookSecret, openSecretBox } from '../src/webhooks/secrets/secrets.ts';
import { openTestDatabase } from './database.ts';

export const SECRETS_KEY = Buffer.alloc(32, 7);
export const secretBox = openSecretBox(SECRETS_KEY);

export type FixtureAccount = { id: string; shard: number };
export type FixtureWebhook = { id: string; secret: string };

/** A database with the rows that deliveries need, and short ways to make and read them. */
export async function openDeliveryFixture() {
  const db = await openTestDatabase();
  return {
    db,
    account: (plan?: 'lite' | 'pro') => insertAccount(db, plan),
    webhook: (account: FixtureAccount, url?: string) => insertWebhook(db, account, url),
    /** An event with one delivery per webhook of the account, due at once or after `firstDelayMs`. */
    emit: (account: FixtureAccount, options: { now?: Date; firstDelayMs?: number } = {}) =>
      db.transaction((tx) =>
        emitEvent(tx, {
          account,
          type: 'transcription.completed',
          jobId: null,
          data: { job: { id: 'job_x' } },
          metadata: '{"order": 12345678901234567890}',
          ...options,
        }),
      ),
    deliveries: () => db.rows<DeliveryState>({ text: `${DELIVERIES} order by created_at, id` }),
    attempts: () => db.rows<Record<string, unknown>>({ text: 'select * from attempts order by completed_at, attempt' }),
    webhookState: async (id: string) => {
      const rows = await db.rows<WebhookState>({ text: WEBHOOK, values: [id] });
      return rows[0]!;
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}

export type DeliveryState = { id: string; state: string; attempt: number; attemptId: string; nextAt: Date | null };
export type WebhookState = {
  active: boolean;
  reason: string | null;
  failures: number;
  since: Date | null;
};

const DELIVERIES = `
  select d.id, case when l.ends_at is null then d.state else 'sending' end as state, d.attempt, d.attempt_id as "attemptId",
    d.next_at as "nextAt"
  from deliveries d
  left join delivery_leases l on l.shard = d.shard and l.webhook_id = d.webhook_id and l.delivery_id = d.id`;
const WEBHOOK = `select active, disabled_reason as reason, consecutive_failures as failures, failing_since as since
  from webhooks where id = $1`;

async function insertAccount(db: Database, plan: 'lite' | 'pro' = 'pro'): Promise<FixtureAccount> {
  const id = makeId('acct');
  const account = { id, shard: shardOf(id) };
  await db.run({
    text: `insert into accounts (shard, id, name, plan, unlimited, created_at) values ($1, $2, 'test', $3, true, now())`,
    values: [account.shard, id, plan],
  });
  return account;
}

async function insertWebhook(
  db: Database,
  account: FixtureAccount,
  url = 'https://a.example/',
): Promise<FixtureWebhook> {
  const id = makeId('wh');
  const secret = makeWebhookSecret();
  await db.run({
    text: `insert into webhooks (shard, id, account_id, url, events, secret, created_at, updated_at)
      values ($1, $2, $3, $4, '{transcription.completed}', $5, now(), now())`,
    values: [account.shard, id, account.id, url, secretBox.seal(id, secret)],
  });
  return { id, secret };
}

/** What the worker would record of an attempt. */
export function attemptOf(delivery: ClaimedDelivery, result: Partial<FinishedAttempt> = {}): FinishedAttempt {
  const succeeded = result.succeeded ?? true;
  return {
    deliveryId: delivery.id,
    attemptId: delivery.attemptId,
    accountId: delivery.accountId,
    webhookId: delivery.webhookId,
    eventId: delivery.eventId,
    eventType: delivery.eventType,
    url: delivery.url,
    attempt: delivery.attempt,
    succeeded,
    retryAfterMs: succeeded ? null : 30_000,
    nextAttemptId: makeId('dlv'),
    responseStatus: succeeded ? 200 : 500,
    errorReason: succeeded ? null : 'http_status',
    errorMessage: succeeded ? null : 'The receiver answered 500.',
    durationMs: 1.5,
    dnsMs: null,
    connectMs: null,
    tlsMs: null,
    firstByteMs: 1,
    remoteAddress: '127.0.0.1',
    requestHeaders: '{}',
    responseHeaders: '{}',
    responseBody: Buffer.from('ok\0\xff', 'latin1'),
    completedAt: new Date(),
    ...result,
  };
}
