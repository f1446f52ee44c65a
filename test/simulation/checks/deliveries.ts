import { signBody } from '#sdk/signature.ts';
import { SETTINGS } from '../nodes.ts';
import type { Change } from '../schema.ts';
import type { Run } from './check-all.ts';

type Report = (text: string) => void;
type Row = Change['after'];

// A transaction may have read a webhook this long before its commit.
const SLACK_MS = 10_000;
const LAST_ATTEMPT = 4;
const JITTER = 0.1;

/** Deliveries follow their state machine, each attempt is recorded once, and they are logged without a gap. */
export function checkDeliveries({ changes, arrivals, memory }: Run, report: Report): void {
  const accepted = new Set(
    arrivals.filter(({ status }) => status === 204).map(({ headers }) => headers['X-Service-Delivery-Id']),
  );
  const webhooks = historyOfWebhooks(changes);
  const ofDeletedJobs = new Set(
    changes
      .filter(({ what, after }) => what === 'event' && memory.deleted.has(after.job_id))
      .map(({ after }) => after.id as string),
  );
  const ofDelivery = Map.groupBy(
    changes.filter(({ what }) => what === 'delivery'),
    ({ before, after }) => (after ?? before).id as string,
  );
  const logged = Map.groupBy(
    changes.filter(({ what }) => what === 'attempt'),
    ({ after }) => after.delivery_id as string,
  );
  for (const [id, steps] of ofDelivery) {
    const log = logged.get(id) ?? [];
    for (const step of steps.filter(({ before }) => before)) {
      const entries = log.filter(({ transaction }) => transaction === step.transaction).map(({ after }) => after);
      const made = entries.find((entry) => entry.id === step.before.attempt_id);
      if (step.after) checkChanged(id, step, made, report);
      else if (!made) report(`deliveries: ${id} was deleted without an entry in the log`);
      if (made?.status === 'succeeded' && !accepted.has(made.id))
        report(`deliveries: ${id} succeeded, but its receiver accepted nothing`);
      const isDropped = entries.some((entry) => entry.status === 'dropped');
      const mayDrop = ofDeletedJobs.has(step.before.event_id) || !webhooks.isOn(step.before.webhook_id, step.atMs);
      if (isDropped && !mayDrop) report(`deliveries: ${id} was dropped, while its webhook was on`);
    }
    if (steps.at(-1)!.after === null) checkLog(id, log, report);
  }
}

/** A row that still waits: a failed attempt is retried, or the same attempt is due at another time. */
function checkChanged(id: string, { before, after, atMs }: Change, made: Row, report: Report): void {
  if (!made) {
    if (after.attempt !== before.attempt || after.attempt_id !== before.attempt_id)
      report(`deliveries: ${id} came to another attempt, but none was logged`);
    return;
  }
  if (made.status !== 'failed') report(`deliveries: ${id} waits after an attempt that ${made.status}`);
  if (after.attempt > LAST_ATTEMPT) report(`deliveries: ${id} came to attempt ${after.attempt}`);
  if (after.attempt_id === before.attempt_id) report(`deliveries: ${id} kept its attempt's id`);
  if (after.attempt !== before.attempt + 1) report(`deliveries: ${id} was retried under the number ${after.attempt}`);
  const earliestMs = atMs + SETTINGS.webhookRetryDelaysMs[after.attempt - 1]! * (1 - JITTER) - 1;
  if (Date.parse(after.next_at) < earliestMs) report(`deliveries: ${id} is to be retried too early`);
}

function checkLog(id: string, log: Change[], report: Report): void {
  const numbers = log.map(({ after }) => after.attempt as number).sort();
  const isWhole = numbers.every((number, index) => number === index + 1) && numbers.length <= LAST_ATTEMPT;
  if (!isWhole) report(`log: ${id} has the attempts ${numbers.join()}`);
  const entries = log.map(({ after }) => after).sort((left, right) => left.attempt - right.attempt);
  const statuses = entries.map(({ status }) => status as string);
  if (statuses.slice(0, -1).some((status) => status !== 'failed'))
    report(`log: ${id} went on after ${statuses.join()}`);
  if (statuses.at(-1) === 'failed' && log.length !== LAST_ATTEMPT)
    report(`log: ${id} gave up after ${log.length} attempts`);
}

/** An event goes once to every active webhook of its account, and to no other webhook. */
export function checkFanOut({ changes }: Run, report: Report): void {
  const webhooks = historyOfWebhooks(changes);
  const deliveries = changes.filter(({ what, before }) => what === 'delivery' && !before);
  const byEvent = Map.groupBy(deliveries, ({ after }) => after.event_id as string);
  for (const event of changes.filter(({ what, after }) => what === 'event' && after.type !== 'webhook.test')) {
    const delivered = (byEvent.get(event.after.id) ?? []).map(({ after }) => after.webhook_id as string);
    if (new Set(delivered).size !== delivered.length) report(`events: ${event.after.id} was put twice in the queue`);
    for (const { id, accountId } of webhooks.all()) {
      const isDelivered = delivered.includes(id);
      if (isDelivered && accountId !== event.after.account_id) report(`owners: ${id} got another account's event`);
      if (accountId !== event.after.account_id) continue;
      if (!isDelivered && webhooks.isOn(id, event.atMs)) report(`events: ${id} did not get ${event.after.id}`);
      if (isDelivered && webhooks.isOff(id, event.atMs)) report(`events: ${id} is off and got ${event.after.id}`);
    }
  }
}

/** Requests at receivers: each attempt once unless a process or the database failed, signed, at the account's receiver, and none after it was accepted. */
export function checkArrivals({ arrivals, changes, memory, isFaultless }: Run, report: Report): void {
  const events = new Map(
    changes.filter(({ what }) => what === 'event').map(({ after }) => [after.id as string, after]),
  );
  const deliveries = deliveriesOf(changes);
  const attempts = new Set<string>();
  const taken = new Set<string>();
  for (const { url, headers, body, status, isAnswerLost } of arrivals) {
    const attemptId = headers['X-Service-Delivery-Id']!;
    const delivery = deliveries.get(attemptId);
    const event = events.get(headers['X-Service-Event-Id']!);
    if (!delivery || !event) {
      report(`arrivals: ${attemptId} was never to be sent`);
      continue;
    }
    if (isFaultless && attempts.has(attemptId)) report(`arrivals: ${attemptId} came twice`);
    attempts.add(attemptId);
    if (Number(headers['X-Service-Attempt']) !== delivery.attempt) report(`arrivals: ${attemptId} has a wrong number`);
    if (url.split('/')[3] !== event.account_id) report(`owners: ${attemptId} went to another account's receiver`);
    if (isFaultless && taken.has(delivery.id)) report(`arrivals: ${delivery.id} came again after it was accepted`);
    if (status === 204 && !isAnswerLost) taken.add(delivery.id);
    const secrets = memory.secrets.get(delivery.webhook_id);
    if (!secrets || memory.uncertain.has(delivery.webhook_id)) continue;
    const timestamp = headers['X-Service-Timestamp']!;
    const isSigned = secrets.some((secret) => signBody({ secret, timestamp, body }) === headers['X-Service-Signature']);
    if (!isSigned) report(`arrivals: ${attemptId} is not signed by its webhook`);
  }
}

/** Deliveries by the ids of their attempts. */
function deliveriesOf(changes: Change[]): Map<string, Row> {
  return new Map(
    changes.flatMap(({ what, after }) => (what === 'delivery' && after ? [[after.attempt_id, after]] : [])),
  );
}

/** Whether webhooks were active or inactive during the whole time around a moment; neither if they changed in it. */
function historyOfWebhooks(changes: Change[]) {
  const byId = Map.groupBy(
    changes.filter(({ what }) => what === 'webhook'),
    ({ before, after }) => (before ?? after).id as string,
  );
  function wasAlways(id: string, atMs: number, isOn: boolean): boolean {
    const steps = byId.get(id) ?? [];
    const earlier = steps.filter((step) => step.atMs < atMs - SLACK_MS).at(-1);
    const around = steps.filter((step) => Math.abs(step.atMs - atMs) <= SLACK_MS);
    return [earlier, ...around].every((step) => (step?.after?.active ?? false) === isOn);
  }
  return {
    all: () =>
      [...byId].map(([id, [first]]) => ({ id, accountId: (first!.before ?? first!.after).account_id as string })),
    isOn: (id: string, atMs: number) => wasAlways(id, atMs, true),
    isOff: (id: string, atMs: number) => wasAlways(id, atMs, false),
  };
}
