import { signBody } from '#sdk/signature.ts';
import { DELIVERY_MOVES } from '../../../src/rules/webhooks/delivery-state.ts';
import { SETTINGS } from '../nodes.ts';
import type { Change } from '../schema.ts';
import type { Run } from './check-all.ts';

type Report = (text: string) => void;
type Row = Change['after'];

// A transaction may have read a webhook this long before its commit.
const SLACK_MS = 10_000;
const LAST_ATTEMPT = 4;
const JITTER = 0.1;

/** Deliveries follow their state machine, are claimed when due, settled by the lease's holder, and logged without a gap. */
export function checkDeliveries({ changes, arrivals, memory, endedAtMs }: Run, report: Report): void {
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
    changes.filter(({ what, after }) => what === 'lease' || (what === 'delivery' && after)),
    ({ what, before, after }) => (what === 'lease' ? (before ?? after).delivery_id : after.id) as string,
  );
  const logged = Map.groupBy(
    changes.filter(({ what }) => what === 'attempt'),
    ({ after }) => after.delivery_id as string,
  );
  for (const [id, steps] of ofDelivery) {
    let delivery = steps[0]!.after;
    let claim: Change | null = null;
    let end: End | null = null;
    for (const step of steps) {
      const { what, before, after, atMs } = step;
      if (what === 'lease') {
        if (step.slot === 'parent') {
          if (!(endedAtMs.get(before.holder)! <= atMs)) report(`deliveries: ${id} was taken from ${before.holder}`);
          if (claim) claim = { ...(claim as Change), after };
          continue;
        }
        if (!after) end = { claim: claim!, transaction: step.transaction };
        claim = after ? step : null;
        if (!claim) continue;
        checkClaim(id, delivery, claim, report);
        if (webhooks.isOff(after.webhook_id, atMs)) report(`deliveries: ${id} was claimed for a webhook that is off`);
        continue;
      }
      delivery = after;
      if (!before) continue;
      if (claim && after.attempt_id !== (claim as Change).after.attempt_id)
        report(`deliveries: ${id} was changed while it was being sent`);
      if (after.state !== before.state || after.attempt !== before.attempt) checkSettled(id, step, end, report);
      if (after.state === 'succeeded' && !accepted.has(before.attempt_id)) {
        report(`deliveries: ${id} succeeded, but its receiver accepted nothing`);
      }
      if (after.state === 'dropped' && !ofDeletedJobs.has(after.event_id) && webhooks.isOn(before.webhook_id, atMs)) {
        report(`deliveries: ${id} was dropped, while its webhook was on`);
      }
    }
    if (claim) report(`deliveries: ${id} is still leased`);
    checkLog(id, delivery, logged.get(id) ?? [], report);
  }
}

/** A deleted lease: its holder deleted it with the result, or it had expired. */
type End = { claim: Change; transaction: string };

function checkClaim(id: string, delivery: Row, { before, after, atMs }: Change, report: Report): void {
  if (delivery.state !== 'waiting') report(`deliveries: ${id} was claimed when it was ${delivery.state}`);
  if (Date.parse(delivery.next_at) > atMs) report(`deliveries: ${id} was claimed before it was due`);
  if (before && Date.parse(before.ends_at) > atMs) report(`deliveries: ${id} was claimed while another held it`);
  if (!(Date.parse(after.ends_at) > atMs)) report(`deliveries: ${id} was claimed without a lease`);
  if (!before && after.attempt_id !== delivery.attempt_id) report(`deliveries: ${id} was claimed under another id`);
  if (before && after.attempt_id === before.attempt_id) report(`deliveries: ${id} kept its attempt's id`);
}

function checkSettled(
  id: string,
  { before, after, atMs, slot, transaction }: Change,
  end: End | null,
  report: Report,
): void {
  const held = end?.transaction === transaction ? end.claim : null;
  const from = held ? 'sending' : before.state;
  const isLegal = DELIVERY_MOVES.some((move) => move.from === from && move.to === after.state);
  if (!isLegal) report(`deliveries: ${id} went from ${from} to ${after.state}`);
  if (!held) return;
  // Any process may delete an expired lease of a disabled webhook.
  const isCleared = after.state === 'dropped' && after.attempt === before.attempt;
  if (isCleared && Date.parse(held.after.ends_at) > atMs)
    report(`deliveries: ${id} was dropped while it was being sent`);
  if (!isCleared && slot !== held.slot) report(`deliveries: ${id} was settled by ${slot}, while ${held.slot} held it`);
  if (after.state === 'exhausted' && after.attempt !== LAST_ATTEMPT)
    report(`deliveries: ${id} gave up at ${after.attempt}`);
  if (after.attempt > LAST_ATTEMPT) report(`deliveries: ${id} came to attempt ${after.attempt}`);
  if (after.state === 'waiting' && after.attempt_id === before.attempt_id)
    report(`deliveries: ${id} kept its attempt's id`);
  if (after.state === 'waiting') {
    if (after.attempt === before.attempt) report(`deliveries: ${id} was retried under the same number`);
    const earliestMs = atMs + SETTINGS.webhookRetryDelaysMs[after.attempt - 1]! * (1 - JITTER) - 1;
    if (Date.parse(after.next_at) < earliestMs) report(`deliveries: ${id} is to be retried too early`);
  }
}

function checkLog(id: string, last: { state: string }, log: Change[], report: Report): void {
  const numbers = log.map(({ after }) => after.attempt as number);
  const isWhole = numbers.every((number, index) => number === index + 1) && numbers.length <= LAST_ATTEMPT;
  if (!isWhole) report(`log: ${id} has the attempts ${numbers.join()}`);
  const statuses = log.map(({ after }) => after.status as string);
  const expected = { succeeded: 'succeeded', exhausted: 'failed', dropped: 'dropped' }[last.state];
  if (!DELIVERY_MOVES.some(({ from }) => from === last.state) && statuses.at(-1) !== expected) {
    report(`log: ${id} is ${last.state}, and its last attempt ${statuses.at(-1)}`);
  }
  if (statuses.slice(0, -1).some((status) => status !== 'failed'))
    report(`log: ${id} went on after ${statuses.join()}`);
  if (last.state === 'exhausted' && log.length !== LAST_ATTEMPT)
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

/** Requests at receivers: each attempt once, signed, at the account's receiver, and none after it was accepted. */
export function checkArrivals({ arrivals, changes, memory, isFaultless }: Run, report: Report): void {
  const events = new Map(
    changes.filter(({ what }) => what === 'event').map(({ after }) => [after.id as string, after]),
  );
  const claims = claimsOf(changes);
  const attempts = new Set<string>();
  const taken = new Set<string>();
  for (const { url, headers, body, status, isAnswerLost } of arrivals) {
    const attemptId = headers['X-Service-Delivery-Id']!;
    const claim = claims.get(attemptId);
    const event = events.get(headers['X-Service-Event-Id']!);
    if (!claim || !event) {
      report(`arrivals: ${attemptId} was never claimed`);
      continue;
    }
    if (attempts.has(attemptId)) report(`arrivals: ${attemptId} came twice`);
    attempts.add(attemptId);
    if (Number(headers['X-Service-Attempt']) !== claim.attempt) report(`arrivals: ${attemptId} has a wrong number`);
    if (url.split('/')[3] !== event.account_id) report(`owners: ${attemptId} went to another account's receiver`);
    if (isFaultless && taken.has(claim.id)) report(`arrivals: ${claim.id} came again after it was accepted`);
    if (status === 204 && !isAnswerLost) taken.add(claim.id);
    const secrets = memory.secrets.get(claim.webhook_id);
    if (!secrets || memory.uncertain.has(claim.webhook_id)) continue;
    const timestamp = headers['X-Service-Timestamp']!;
    const isSigned = secrets.some((secret) => signBody({ secret, timestamp, body }) === headers['X-Service-Signature']);
    if (!isSigned) report(`arrivals: ${attemptId} is not signed by its webhook`);
  }
}

/** Claims by the id of the attempt. */
function claimsOf(changes: Change[]): Map<string, Row> {
  const deliveries = new Map<string, Row>();
  const claims = new Map<string, Row>();
  for (const { what, after } of changes) {
    if (what === 'delivery' && after) deliveries.set(after.id, after);
    if (what === 'lease' && after) claims.set(after.attempt_id, deliveries.get(after.delivery_id));
  }
  return claims;
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
