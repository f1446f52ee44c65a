/** The queued jobs of one account, oldest first. */
type AccountJobs<Job> = { accountId: string; jobs: Job[] };

/**
 * Jobs that may start.
 * @property returned  jobs that were started before and were queued again, one in each entry, oldest first
 * @property queues    accounts with waiting jobs, the one that least recently started a job first
 */
export type Waiting<Job> = { returned: AccountJobs<Job>[]; queues: AccountJobs<Job>[] };

/**
 * The jobs that start next, at most `places`: the returned ones first, then one of each account in turn, over and over.
 * The same as if one job started after the other.
 */
export function nextJobs<Job>({ returned, queues }: Waiting<Job>, places: number): Job[] {
  const first = returned.slice(0, places);
  const startedNow = new Set(first.map(({ accountId }) => accountId));
  // An account that starts a job is the last in turn.
  const inTurn = [
    ...queues.filter(({ accountId }) => !startedNow.has(accountId)),
    ...queues.filter(({ accountId }) => startedNow.has(accountId)),
  ];
  const rounds = Math.max(0, ...inTurn.map(({ jobs }) => jobs.length));
  const waiting = Array.from({ length: rounds }, (_, round) =>
    inTurn.flatMap(({ jobs }) => jobs.slice(round, round + 1)),
  );
  return [...first.flatMap(({ jobs }) => jobs), ...waiting.flat()].slice(0, places);
}
