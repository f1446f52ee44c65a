import type { Sql } from '../../../db/database.ts';
import { plainArray } from '../../../db/statements/plain-array.ts';

/** A webhook as an alert shows it. */
export type AlertedWebhook = {
  id: string;
  accountId: string;
  url: string;
  active: boolean;
  disabledReason: string | null;
  disabledAt: Date | null;
  consecutiveFailures: number;
  failingSince: Date | null;
};

type Found = AlertedWebhook & { wasExhausted: boolean };

/**
 * The locked webhooks that the account is told of: those that are disabled, and those with used-up deliveries whose
 * last alert of this kind is at least `everyMs` old, which is stored.
 */
export async function findAlerted(tx: Sql, { shard, disabled, exhausted, now, everyMs }: AlertQuery): Promise<Found[]> {
  return await tx.rows<Found>({
    name: 'find-alerted-webhooks',
    text: `
      with told as (
        update webhooks
        set exhausted_alert_at = $4
        where shard = $1 and id = any($3::text[])
          and (exhausted_alert_at is null or exhausted_alert_at <= $4::timestamptz - $5 * interval '1 millisecond')
        returning id
      )
      select id, account_id as "accountId", url, active, disabled_reason as "disabledReason",
        disabled_at as "disabledAt", consecutive_failures as "consecutiveFailures", failing_since as "failingSince",
        id = any(array(select id from told)) as "wasExhausted"
      from webhooks
      where shard = $1 and (id = any($2::text[]) or id = any(array(select id from told)))
      order by id`,
    values: [shard, plainArray(disabled), plainArray(exhausted), now, everyMs],
  });
}

type AlertQuery = { shard: number; disabled: string[]; exhausted: string[]; now: Date; everyMs: number };
