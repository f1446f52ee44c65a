import { webhookIdOfJob, webhookKindOf } from '../../rules/ids.ts';
import { ALERT_CATALOGUE, type EmittedType, EVENT_CATALOGUE } from './event-types.ts';

type Addressed = {
  type: EmittedType;
  /** Null: the event is of no job. */
  jobId: string | null;
  /** The webhook that a test is of; null: the event is no test. */
  testedId: string | null;
};

const CATALOGUE = { ...EVENT_CATALOGUE, ...ALERT_CATALOGUE };

/**
 * Whether an event may be sent to a webhook of its account. Everything that sends decides by it, here or in SQL
 * (`MAY_RECEIVE`): the plan limits how many webhooks get the account's events, so no other webhook may get them. A
 * test is for its webhook only, and the webhook of a job gets the events of this job only.
 */
export function mayReceive(webhookId: string, { type, jobId, testedId }: Addressed): boolean {
  const kind = webhookKindOf(webhookId);
  if (!CATALOGUE[type].receivers.includes(kind)) return false;
  if (testedId !== null) return testedId === webhookId;
  return kind !== 'job' || (jobId !== null && webhookId === webhookIdOfJob(jobId));
}

// The prefixes of the kinds' ids.
const PREFIX = { account: 'wh', job: 'whj', alerts: 'wha' };

const ALLOWED = Object.entries(CATALOGUE)
  .flatMap(([type, { receivers }]) => receivers.map((kind) => `('${type}', '${PREFIX[kind]}')`))
  .join(', ');

/**
 * SQL of `mayReceive`.
 * @param webhookId  SQL of the webhook's id, and so are the others of the event's columns; none is a bare parameter
 */
export const MAY_RECEIVE = (webhookId: string, { type, jobId, testedId }: Record<keyof Addressed, string>): string => `(
          (${type}, split_part(${webhookId}, '_', 1)) in (${ALLOWED})
          and case
            when ${testedId} is not null then ${testedId} = ${webhookId}
            when ${webhookId} like 'whj\\_%' then coalesce(${webhookId} = 'whj_' || substring(${jobId} from 5), false)
            else true
          end
        )`;
