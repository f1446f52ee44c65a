/** An account that has jobs waiting. `lastTurnMs`: when it last had one started; null for never. */
export type Queue = { accountId: string; waiting: number; lastTurnMs: number | null };

/**
 * The place of a job in the queue, 1 for the next one to start. Accounts start jobs in turn, so that a job which is the
 * third of its account waits for two of every account, and a third of those whose turn comes before.
 * @param rank    the job's place among its own account's, 1 or more
 * @param queues  every account with jobs waiting, in any order
 */
export function queuePosition({
  accountId,
  rank,
  queues,
}: {
  accountId: string;
  rank: number;
  queues: Queue[];
}): number {
  const own = queues.find((queue) => queue.accountId === accountId) ?? { accountId, waiting: rank, lastTurnMs: null };
  const others = queues.filter((queue) => queue.accountId !== accountId);
  const ahead = others.map((other) => Math.min(other.waiting, isBefore(other, own) ? rank : rank - 1));
  return rank + ahead.reduce((sum, jobs) => sum + jobs, 0);
}

/** Accounts that never had a turn come first, then those whose last turn is the oldest. */
function isBefore(left: Queue, right: Queue): boolean {
  const [leftMs, rightMs] = [left.lastTurnMs ?? 0, right.lastTurnMs ?? 0];
  return leftMs === rightMs ? left.accountId < right.accountId : leftMs < rightMs;
}
