import { ALERT_TYPES } from '../../../src/webhooks/events/event-types.ts';
import { SETTINGS } from '../environment.ts';
import type { SentRequest } from '../receivers.ts';
import type { Change } from '../schema.ts';
import type { Run } from './run.ts';
import { ShardOwners } from './shard-owners.ts';
import { historyOfWebhooks } from './webhook-history.ts';

type Report = (text: string) => void;
type Row = Change['after'];

const LAST_ATTEMPT = 4;
const JITTER = 0.1;
// Without faults, a delivery of a webhook with many others waits for them.
const LONGEST_WAIT_MS = 30_000;
// After the last fault, the search of all webhooks finds the rest within a minute, and a lease ends before.
const LONGEST_WAIT_AFTER_FAULTS_MS = 100_000;

/** What the checks of one delivery need of the run. */
type Context = {
  run: Run;
  owners: ShardOwners;
  webhooks: ReturnType<typeof historyOfWebhooks>;
  /** Ids of attempts that a receiver accepted. */
  accepted: Set<string>;
  /** The requests of each attempt. */
  sent: Map<string, SentRequest[]>;
  ofDeletedJobs: Set<string>;
  report: Report;
};

/**
 * Deliveries end or are retried by the owner of their shard only, with a log entry, in time, and without a gap in the
 * log.
 */
export function checkDeliveries(run: Run, report: Report): void {
  const { changes, arrivals, sent, memory } = run;
  const events = changes.filter(({ what, after }) => what === 'event' && memory.deleted.has(after.job_id));
  const accepted = arrivals.filter(({ status }) => status === 204);
  const context: Context = {
    run,
    owners: new ShardOwners(changes),
    webhooks: historyOfWebhooks(run),
    report,
    accepted: new Set(accepted.map(({ headers }) => headers['X-Service-Delivery-Id']!)),
    sent: Map.groupBy(sent, ({ attemptId }) => attemptId),
    ofDeletedJobs: new Set(events.map(({ after }) => after.id as string)),
  };
  const steps = Map.groupBy(
    changes.filter(({ what }) => what === 'delivery'),
    ({ before, after }) => (before ?? after).id as string,
  );
  const logged = Map.groupBy(
    changes.filter(({ what }) => what === 'attempt'),
    ({ after }) => after.delivery_id as string,
  );
  for (const [id, ofDelivery] of steps) {
    const log = logged.get(id) ?? [];
    for (const step of ofDelivery) checkStep(id, step, log, context);
    checkWaits(id, ofDelivery, context);
    checkLog(id, ofDelivery.at(-1)!.after === null, log, report);
  }
  for (const id of logged.keys()) if (!steps.has(id)) report(`log: ${id} was never in the queue`);
}

function checkStep(id: string, step: Change, log: Change[], context: Context): void {
  const { before, after, transaction } = step;
  const { report } = context;
  if (!before) {
    if (after.attempt !== 1) report(`deliveries: ${id} began with attempt ${after.attempt}`);
    return;
  }
  const entry = log.find((change) => change.transaction === transaction && change.after.id === before.attempt_id);
  if (!entry) report(`deliveries: ${id} was changed without an entry in the log`);
  else if (entry.after.status === 'dropped') checkDropped(id, step, context);
  else checkAttempt(id, step, entry.after.status, context);
}

function checkAttempt(id: string, step: Change, status: string, context: Context): void {
  const { before, after } = step;
  const { report, accepted, sent } = context;
  checkRecorded(id, step, context);
  if (status === 'succeeded' && !accepted.has(before.attempt_id))
    report(`deliveries: ${id} succeeded, but its receiver accepted nothing`);
  if (!after) return;
  if (after.attempt !== before.attempt + 1 || after.attempt > LAST_ATTEMPT)
    report(`deliveries: ${id} came from attempt ${before.attempt} to ${after.attempt}`);
  if (after.attempt_id === before.attempt_id) report(`deliveries: ${id} kept its attempt's id`);
  // The delay counts from the start of the recording, in a transaction that may last: no sooner than the request.
  const sentMs = Math.min(...(sent.get(before.attempt_id) ?? []).map(({ sentDatabaseMs }) => sentDatabaseMs));
  const earliestMs = sentMs + SETTINGS.webhookRetryDelaysMs[after.attempt - 1]! * (1 - JITTER) - 1;
  if (Number.isFinite(sentMs) && Date.parse(after.next_at) < earliestMs)
    report(`deliveries: ${id} is to be retried too early`);
}

/** Only the owner records, and only while it has owned the shard since the attempt was sent. */
function checkRecorded(id: string, step: Change, { owners, sent, report }: Context): void {
  const { before, slot, atMs } = step;
  const owner = owners.ownerAt(step, before.shard);
  if (!owner?.startsWith(`${slot}/`))
    report(`deliveries: ${id} was recorded by ${slot}, while ${owner} owned its shard`);
  const bySlot = (sent.get(before.attempt_id) ?? []).filter((request) => request.slot === slot);
  const last = bySlot.filter(({ sentDatabaseMs }) => sentDatabaseMs <= atMs).at(-1);
  if (!last) return;
  const { holder, sentDatabaseMs } = last;
  if (holder !== owner) report(`deliveries: ${id} was recorded by ${owner}, but ${holder} sent it`);
  const loss = owners.lossOf(before.shard, holder, { fromMs: sentDatabaseMs + 1, toMs: atMs });
  if (loss && loss.number < step.number) report(`deliveries: ${id} was recorded, though its shard was lost in between`);
}

function checkDropped(id: string, step: Change, { owners, webhooks, ofDeletedJobs, report }: Context): void {
  const { before, after, slot } = step;
  if (after) report(`deliveries: ${id} was logged as dropped, and waits`);
  if (ofDeletedJobs.has(before.event_id)) return;
  // What waited while its webhook was off may be dropped shortly after the webhook is on again.
  if (webhooks.wasActive(before.webhook_id, Date.parse(before.created_at), step))
    report(`deliveries: ${id} was dropped, while its webhook was on`);
  const owner = owners.ownerAt(step, before.shard);
  if (slot.startsWith('deliverer') && !owner?.startsWith(`${slot}/`))
    report(`deliveries: ${id} was dropped by ${slot}, while ${owner} owned its shard`);
}

/** The times between the moment at which a delivery is due and its next change. */
function checkWaits(id: string, steps: Change[], { run, report }: Context): void {
  for (const [index, { after, atMs }] of steps.entries()) {
    if (!after) continue;
    const next = steps[index + 1];
    if (!next) report(`deliveries: ${id} waits for ever`);
    if (!next) continue;
    const dueAtMs = Math.max(Date.parse(after.next_at), atMs);
    const waitedMs = next.atMs - dueAtMs;
    if (run.isFaultless && waitedMs > LONGEST_WAIT_MS) report(`deliveries: ${id} waited for ${waitedMs} ms`);
    const afterFaultsMs = next.atMs - Math.max(dueAtMs, run.calmAtMs);
    if (afterFaultsMs > LONGEST_WAIT_AFTER_FAULTS_MS)
      report(`deliveries: ${id} waited for ${afterFaultsMs} ms after the last fault`);
  }
}

function checkLog(id: string, hasEnded: boolean, log: Change[], report: Report): void {
  const numbers = log.map(({ after }) => after.attempt as number);
  const isWhole = numbers.every((number, index) => number === index + 1) && numbers.length <= LAST_ATTEMPT;
  if (!isWhole) report(`log: ${id} has the attempts ${numbers.join()}`);
  const statuses = log.map(({ after }) => after.status as Row);
  const last = statuses.at(-1);
  const isEnd = last === 'succeeded' || last === 'dropped' || (last === 'failed' && log.length === LAST_ATTEMPT);
  if (isEnd !== hasEnded) report(`log: ${id} has ${hasEnded ? 'ended' : 'not ended'} after ${statuses.join()}`);
  if (statuses.slice(0, -1).some((status) => status !== 'failed'))
    report(`log: ${id} went on after ${statuses.join()}`);
}

/** An event goes once to every active webhook of its account, and to no other webhook; an alert to none of them. */
export function checkFanOut(run: Run, report: Report): void {
  const { changes } = run;
  const webhooks = historyOfWebhooks(run);
  const deliveries = changes.filter(({ what, before }) => what === 'delivery' && !before);
  const byEvent = Map.groupBy(deliveries, ({ after }) => after.event_id as string);
  for (const event of changes.filter(({ what, after }) => what === 'event' && after.webhook_id === null)) {
    const delivered = (byEvent.get(event.after.id) ?? []).map(({ after }) => after.webhook_id as string);
    if (new Set(delivered).size !== delivered.length) report(`events: ${event.after.id} was put twice in the queue`);
    const span = { fromMs: Math.min(Date.parse(event.after.created_at), event.atMs), toMs: event.atMs };
    const isAlert = ALERT_TYPES.includes(event.after.type);
    for (const { id, accountId } of webhooks.all()) {
      const isDelivered = delivered.includes(id);
      if (isDelivered && accountId !== event.after.account_id) report(`owners: ${id} got another account's event`);
      if (accountId !== event.after.account_id) continue;
      if (isAlert) {
        if (isDelivered) report(`events: ${id} got the alert ${event.after.id}`);
        continue;
      }
      if (!isDelivered && webhooks.isOn(id, span)) report(`events: ${id} did not get ${event.after.id}`);
      if (isDelivered && webhooks.isOff(id, span)) report(`events: ${id} is off and got ${event.after.id}`);
    }
  }
}
