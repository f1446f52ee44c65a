import { signBody } from '#sdk/webhooks/signature.ts';
import type { Arrival } from '../receivers.ts';
import type { Change } from '../schema.ts';
import { MAX_IN_FLIGHT_PER_WEBHOOK } from '../smaller-limits.ts';
import type { Run } from './run.ts';
import { ShardOwners } from './shard-owners.ts';
import { historyOfWebhooks } from './webhook-history.ts';

type Report = (text: string) => void;
type Row = Change['after'];

/** Every webhook has this own header, with the id of its account. */
export const ACCOUNT_HEADER = 'X-Account';

// Between the choice of an attempt and its request the deliverer may read its body and its webhook.
const MOST_TO_READ_MS = 100;
// A request that took longer was on its way while its process was frozen.
const LONGEST_WAY_MS = 100;
// Times of arrivals are rounded.
const ROUNDED_MS = 1;
// After a step of the database's clock, leases end before the processes stop trusting them.
const AFTER_CLOCK_STEP_MS = 10_000;

/**
 * Requests at receivers: signed, at the account's receiver, sent by the owner of the shard, and repeated only after a
 * loss.
 */
export function checkArrivals(run: Run, report: Report): void {
  const { arrivals, changes, memory } = run;
  const owners = new ShardOwners(changes);
  const webhooks = historyOfWebhooks(run);
  const rows = rowsByAttempt(changes);
  const events = new Map(
    changes.filter(({ what }) => what === 'event').map(({ after }) => [after.id as string, after]),
  );
  const known: (Arrival & { row: Row })[] = [];
  for (const arrival of arrivals) {
    const { url, headers, body, sentDatabaseMs, holder } = arrival;
    const attemptId = headers['X-Service-Delivery-Id']!;
    const row = rows.get(attemptId);
    const event = events.get(headers['X-Service-Event-Id']!);
    if (!row || !event || event.id !== row.event_id) {
      report(`arrivals: ${attemptId} was never in the queue`);
      continue;
    }
    known.push({ ...arrival, row });
    if (Number(headers['X-Service-Attempt']) !== row.attempt) report(`arrivals: ${attemptId} has a wrong number`);
    if (url.split('/')[3] !== event.account_id) report(`owners: ${attemptId} went to another account's receiver`);
    if (headers[ACCOUNT_HEADER] !== event.account_id) report(`arrivals: ${attemptId} lacks its webhook's own header`);
    const moment = { fromMs: sentDatabaseMs, toMs: sentDatabaseMs };
    if (webhooks.isOff(row.webhook_id, moment)) report(`arrivals: ${attemptId} was sent to a webhook that is off`);
    if (!owners.isOwnedAt(row.shard, holder, sentDatabaseMs) && !isAfterClockStep(arrival, run))
      report(`arrivals: ${attemptId} was sent by ${holder}, which did not own its shard`);
    const secrets = memory.secrets.get(row.webhook_id);
    if (!secrets || memory.uncertain.has(row.webhook_id)) continue;
    const timestamp = headers['X-Service-Timestamp']!;
    const isSigned = secrets.some((secret) => signBody({ secret, timestamp, body }) === headers['X-Service-Signature']);
    if (!isSigned) report(`arrivals: ${attemptId} is not signed by its webhook`);
  }
  checkRepeats(known, owners, run, report);
  checkInFlight(known, run, report);
  if (run.isFaultless) checkRates(known, changes, report);
}

// A stop gives up what the database does not take, and ends within this time, if the process does not freeze.
const STOP_MS = 30_000;

/** Whether the process ended soon after: it released its shards to stop. */
function isStopping(holder: string, atMs: number, { endedAtMs, isFaultless }: Run): boolean {
  return !isFaultless && (endedAtMs.get(holder) ?? Number.POSITIVE_INFINITY) - atMs < STOP_MS;
}

/**
 * An attempt is sent again only when its sender was ended in between: it stopped or crashed, or its lease ended because
 * it was frozen or cut off. A sender that releases the shard has recorded everything before, but for what it cut off to
 * stop, or could not record in time then.
 */
function checkRepeats(arrivals: (Arrival & { row: Row })[], owners: ShardOwners, run: Run, report: Report): void {
  const ended = new Set(run.changes.flatMap(({ what, transaction }) => (what === 'deliverer' ? transaction : [])));
  const byAttempt = Map.groupBy(arrivals, ({ headers }) => headers['X-Service-Delivery-Id']!);
  for (const [attemptId, repeats] of byAttempt) {
    repeats.sort((left, right) => left.sentAtMs - right.sentAtMs);
    for (const [index, later] of repeats.entries()) {
      const earlier = repeats[index - 1];
      if (!earlier || isAfterClockStep(later, run)) continue;
      const { row, holder, sentDatabaseMs, isCutOff } = earlier;
      const loss = owners.lossOf(row.shard, holder, { fromMs: sentDatabaseMs, toMs: later.sentDatabaseMs });
      if (!loss) report(`arrivals: ${attemptId} was sent again by ${later.holder}, though ${holder} owned its shard`);
      else if (!isCutOff && !ended.has(loss.transaction) && !isStopping(holder, loss.atMs, run))
        report(`arrivals: ${attemptId} was in flight when ${holder} released its shard`);
    }
  }
}

/** How many requests each webhook's receiver has at once. */
function checkInFlight(arrivals: (Arrival & { row: Row })[], run: Run, report: Report): void {
  const counted = arrivals.filter((one) => one.atMs - one.sentAtMs <= LONGEST_WAY_MS && !isAfterClockStep(one, run));
  for (const [webhookId, ofWebhook] of Map.groupBy(counted, ({ row }) => row.webhook_id as string)) {
    const counts = ofWebhook.map(
      ({ atMs }) => ofWebhook.filter((other) => other.atMs <= atMs && other.untilMs > atMs + ROUNDED_MS).length,
    );
    const inFlight = Math.max(...counts);
    if (inFlight > MAX_IN_FLIGHT_PER_WEBHOOK) report(`arrivals: ${webhookId} had ${inFlight} in flight`);
  }
}

/** In no second more attempts start than the webhook's limit. With faults the reads before a request may take long. */
function checkRates(arrivals: (Arrival & { row: Row })[], changes: Change[], report: Report): void {
  const webhooks = new Map(
    changes.flatMap(({ what, after }) => (what === 'webhook' && after ? [[after.id, after]] : [])),
  );
  for (const [webhookId, ofWebhook] of Map.groupBy(arrivals, ({ row }) => row.webhook_id as string)) {
    const limit = webhooks.get(webhookId)?.max_per_second ?? Number.POSITIVE_INFINITY;
    const sent = ofWebhook.map(({ sentAtMs }) => sentAtMs).sort((left, right) => left - right);
    const spans = sent.slice(limit).map((atMs, index) => atMs - sent[index]!);
    if (Math.min(...spans) < 1_000 - MOST_TO_READ_MS)
      report(`arrivals: ${webhookId} had more than ${limit} in a second`);
  }
}

function isAfterClockStep({ sentAtMs }: Arrival, { clockSteps }: Run): boolean {
  return clockSteps.some(({ atMs }) => sentAtMs >= atMs && sentAtMs <= atMs + AFTER_CLOCK_STEP_MS);
}

/** The row that has had this attempt id. */
function rowsByAttempt(changes: Change[]): Map<string, Row> {
  const deliveries = changes.filter(({ what, after }) => what === 'delivery' && after);
  return new Map(deliveries.map(({ after }) => [after.attempt_id as string, after]));
}
