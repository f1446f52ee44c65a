import { BOUNDS } from '../../../src/rules/bounds.ts';
import { LATE_COMMIT_MS } from '../database.ts';
import { SETTINGS } from '../environment.ts';
import type { Change } from '../schema.ts';
import type { Run } from './run.ts';

type Report = (text: string) => void;

/** Every failed attempt counts once; a webhook is disabled exactly when the rule decides so. */
export function checkFailureCounts({ changes, isFaultless }: Run, report: Report): void {
  const decidedWithinMs = BOUNDS.lateCommitMs + (isFaultless ? 0 : LATE_COMMIT_MS);
  const attempts = Map.groupBy(
    changes.filter(({ what, after }) => what === 'attempt' && after.status !== 'dropped'),
    ({ transaction, after }) => `${transaction} ${after.webhook_id}`,
  );
  const gone = new Set<string>();
  const counted = new Set<string>();
  for (const change of changes) {
    if (change.what !== 'webhook') continue;
    const { before, after, transaction } = change;
    if (!after) gone.add(before.id);
    if (!before || !after) continue;
    if (before.exhausted_alert_at !== after.exhausted_alert_at) {
      checkAlerted(change, report);
      continue;
    }
    const key = `${transaction} ${after.id}`;
    counted.add(key);
    checkChange(change, { batch: attempts.get(key) ?? [], decidedWithinMs }, report);
  }
  for (const [key, batch] of attempts) {
    const { webhook_id: id } = batch[0]!.after;
    const hasFailed = batch.some(({ after }) => after.status === 'failed');
    const endsWell = batch.some(({ after }) => after.status === 'succeeded');
    if (hasFailed && !endsWell && !counted.has(key) && !gone.has(id)) report(`streaks: ${id} has uncounted failures`);
  }
}

/** The account is told of a used-up delivery by a statement of its own, which counts nothing. */
function checkAlerted({ before, after }: Change, report: Report): void {
  const [count, expected] = [after.consecutive_failures, before.consecutive_failures];
  if (count !== expected) report(`streaks: ${after.id} counts ${count} instead of ${expected}`);
  if (after.active !== before.active) report(`streaks: ${after.id} was disabled by an alert`);
}

function checkChange(
  { before, after, atMs }: Change,
  { batch, decidedWithinMs }: { batch: Change[]; decidedWithinMs: number },
  report: Report,
): void {
  const id = after.id as string;
  const failed = batch.filter((attempt) => attempt.after.status === 'failed').length;
  const hasSuccess = batch.length > failed;
  const isEnabled = !before.active && after.active;
  const count = after.consecutive_failures as number;
  const isDisabled = before.active && !after.active && after.disabled_reason === 'consecutive_failures';

  if (batch.length === 0) {
    const expected = isEnabled ? 0 : before.consecutive_failures;
    if (count !== expected) report(`streaks: ${id} counts ${count} instead of ${expected}`);
    if (isDisabled) report(`streaks: ${id} was disabled without an attempt`);
    return;
  }
  const expected = before.consecutive_failures + failed;
  if (!hasSuccess && count !== expected) report(`streaks: ${id} counts ${count} instead of ${expected}`);
  if (hasSuccess && count > failed) report(`streaks: ${id} counts ${count} after a success`);
  if (!before.active) return;
  const failingSinceMs = Date.parse((!hasSuccess && before.failing_since) || after.failing_since);
  // The decision is made at a time that is read before the rows are locked, which another transaction may hold.
  const nowMs = isDisabled ? Date.parse(after.disabled_at) : atMs - decidedWithinMs;
  const isOver = count >= SETTINGS.webhookDisableFailures && nowMs - failingSinceMs >= SETTINGS.webhookDisableMs;
  if (isDisabled !== isOver) report(`streaks: ${id} at ${count}: over the bounds ${isOver}, disabled ${isDisabled}`);
}
