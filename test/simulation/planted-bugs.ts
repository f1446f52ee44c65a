import type { Database, Sql } from '../../src/db/database.ts';
import type { Claim } from '../../src/jobs/queue/lease-store.ts';
import { changesOf, type PlantedBug } from './planted-bug.ts';
import { DELIVERY_BUGS } from './planted-delivery-bugs.ts';
import { LIVE_BUGS } from './planted-live-bugs.ts';

const queueStore = changesOf<typeof import('../../src/jobs/queue/queue-store.ts')>('src/jobs/queue/queue-store.ts');
const leaseStore = changesOf<typeof import('../../src/jobs/queue/lease-store.ts')>('src/jobs/queue/lease-store.ts');
const endStore = changesOf<typeof import('../../src/jobs/end/end-store.ts')>('src/jobs/end/end-store.ts');
const acceptStore = changesOf<typeof import('../../src/jobs/api/accept-store.ts')>('src/jobs/api/accept-store.ts');
const controlStore = changesOf<typeof import('../../src/jobs/api/control-store.ts')>('src/jobs/api/control-store.ts');
const ledgerStore = changesOf<typeof import('../../src/accounts/ledger/ledger-store.ts')>(
  'src/accounts/ledger/ledger-store.ts',
);
const usageStore = changesOf<typeof import('../../src/jobs/usage/usage-store.ts')>('src/jobs/usage/usage-store.ts');

export const PLANTED_BUGS: PlantedBug[] = [
  {
    name: 'a job ends without a fence',
    changes: [
      endStore({
        readRunningJob: (original) => async (sql, claim) => original(sql, await underCurrentLease(sql, claim)),
        writeEnd: (original) => async (sql, end, config) =>
          original(sql, { ...end, ended: await underCurrentLease(sql, end.ended) }, config),
      }),
    ],
  },
  {
    name: 'a claim of a job takes no lease',
    changes: [queueStore({ claimJobs: (original) => (sql, claim) => original(sql, { ...claim, leaseMs: 0 }) })],
  },
  {
    name: 'jobs that other workers have claimed are claimed',
    changes: [
      queueStore({
        claimJobs: (original) => async (sql, claim) => {
          await sql.run({
            text: `update jobs set state = 'queued' where id = any($1::text[]) and state = 'processing'`,
            values: [claim.jobs.map(({ id }) => id)],
          });
          return await original(sql, claim);
        },
      }),
    ],
  },
  {
    name: 'a job that is accepted is not counted',
    changes: [
      acceptStore({
        acceptJob: (original) => (sql, job, now) =>
          inTransaction(sql, async (tx) => {
            const accepted = await original(tx, job, now);
            if (accepted) await addToWaiting(tx, job, -1);
            return accepted;
          }),
      }),
    ],
  },
  {
    name: 'a job that starts stays counted',
    changes: [
      queueStore({
        claimJobs: (original) => (sql, claim) =>
          inTransaction(sql, async (tx) => {
            const claimed = await original(tx, claim);
            for (const job of claimed) if (job.lease === 1) await addToWaiting(tx, job, 1);
            return claimed;
          }),
      }),
    ],
  },
  {
    name: 'a returned job that starts is subtracted from the count',
    changes: [
      queueStore({
        claimJobs: (original) => (sql, claim) =>
          inTransaction(sql, async (tx) => {
            const claimed = await original(tx, claim);
            for (const job of claimed) if (job.lease > 1) await addToWaiting(tx, job, -1);
            return claimed;
          }),
      }),
    ],
  },
  {
    name: 'a job that is returned to the queue is waiting again and not counted',
    changes: [
      leaseStore({
        handBackJob: (original) => async (sql, claim, now) => {
          const isReturned = await original(sql, claim, now);
          if (isReturned) await forgetLeases(sql, [claim.id]);
          return isReturned;
        },
        returnLapsedJobs: (original) => async (sql, jobs) => forgetLeases(sql, await original(sql, jobs)),
        returnJobsOf: (original) => async (sql, ended) => forgetLeases(sql, await original(sql, ended)),
      }),
    ],
  },
  {
    name: 'a waiting job that is canceled stays counted',
    changes: [
      controlStore({ cancelOpenJob: (original) => (tx, job, end) => original(tx, { ...job, audioKey: null }, end) }),
    ],
  },
  {
    name: 'a running job that is canceled changes the count',
    changes: [
      controlStore({
        cancelOpenJob: (original) => (tx, job, end) => original(tx, { ...job, state: 'queued', lease: 0 }, end),
      }),
    ],
  },
  {
    name: 'the time of the last start is not stored',
    changes: [
      queueStore({
        claimJobs: (original) => (sql, claim) =>
          inTransaction(sql, async (tx) => {
            const queues = await tx.rows<{ shard: number; id: string; startedAt: Date }>({
              text: `select shard, account_id as id, last_started_at as "startedAt" from job_queues
                where last_started_at is not null`,
            });
            const claimed = await original(tx, claim);
            for (const { shard, id, startedAt } of queues) {
              const text = 'update job_queues set last_started_at = $3 where shard = $1 and account_id = $2';
              await tx.run({ text, values: [shard, id, startedAt] });
            }
            return claimed;
          }),
      }),
    ],
  },
  {
    name: 'a job is never renewed',
    changes: [
      leaseStore({
        renewLeases: (original) => (sql, claims, lease) => original(sql, claims, { ...lease, leaseMs: 0 }),
      }),
    ],
  },
  {
    name: 'jobs whose lease has not ended go back to the queue',
    changes: [
      leaseStore({
        findLapsedJobs: (original) => async (sql) => {
          const text = `update jobs set next_at = clock_timestamp()
            where state = 'processing' and next_at <= clock_timestamp() + interval '8 seconds'`;
          await sql.run({ text });
          return await original(sql);
        },
      }),
    ],
  },
  {
    name: 'jobs of running processes are returned with those of ended processes',
    changes: [leaseStore({ returnJobsOf: (original) => (sql, ended) => original(sql, { ...ended, holders: '' }) })],
  },
  {
    name: 'a job ends without its event',
    changes: [
      changesOf<typeof import('../../src/webhooks/events/store.ts')>('src/webhooks/events/store.ts')({
        insertEventIf: (original) => () => original('false'),
      }),
    ],
  },
  {
    name: 'a canceled job is not counted in the usage',
    changes: [usageStore({ addUsage: () => async () => undefined })],
  },
  {
    name: 'a lost end is counted in the usage',
    changes: [usageStore({ addUsageIf: (original) => (usage) => original({ ...usage, condition: 'true' }) })],
  },
  {
    name: 'a hold is released twice',
    changes: [ledgerStore({ moveUnits: (original) => (move) => original({ ...move, condition: 'true' }) })],
  },
  {
    name: 'a job is accepted that the balance does not cover',
    changes: [ledgerStore({ UNITS_MOVED: () => 'true' as never })],
  },
  {
    name: 'a hold does not grow',
    changes: [
      changesOf<typeof import('../../src/jobs/end/hold.ts')>('src/jobs/end/hold.ts')({
        openHold: () => () => async () => null,
      }),
    ],
  },
  {
    name: 'a hold that grew is not stored in its job',
    changes: [queueStore({ setHeldUnits: () => async () => undefined })],
  },
  {
    name: 'a hold that grows is counted from the claim',
    changes: [
      queueStore({
        lockClaimedJob: (original) => async (tx, claim: Claim & { heldUnits?: number }) => {
          const locked = await original(tx, claim);
          return locked && { ...locked, heldUnits: claim.heldUnits ?? locked.heldUnits };
        },
      }),
    ],
  },
  {
    name: 'text that the client could read is free',
    changes: [
      changesOf<typeof import('../../src/rules/jobs/price.ts')>('src/rules/jobs/price.ts')({
        chargedUnits: (original) => (end, units) => original(end, { ...units, transcribedUnits: 0 }),
      }),
    ],
  },
  {
    name: 'pieces are stored without their cost',
    changes: [
      changesOf<typeof import('../../src/jobs/queue/piece-store.ts')>('src/jobs/queue/piece-store.ts')({
        savePieces: (original) => (sql, claim, saved) => original(sql, claim, { ...saved, transcribedUnits: 0 }),
      }),
    ],
  },
  {
    name: 'a job that waits for its engine uses up an attempt',
    changes: [
      leaseStore({
        returnWaitingJob:
          () =>
          async (sql, { shard, id, lease }) => {
            const text = `update jobs set state = 'queued', started_at = null, holder = null, next_at = clock_timestamp()
            where shard = $1 and id = $2 and lease = $3 and state = 'processing'`;
            return (await sql.run({ text, values: [shard, id, lease] })) === 1;
          },
      }),
    ],
  },
  {
    name: 'a job fails while its engine is away',
    changes: [
      changesOf<typeof import('../../src/jobs/execution/pipeline.ts')>('src/jobs/execution/pipeline.ts')({
        runPipeline:
          (original) =>
          async (...given) => {
            try {
              return await original(...given);
            } catch (error) {
              const { name, message } = error as Error;
              if (name !== 'EngineAwayError') throw error;
              return { kind: 'failed', type: 'engine_error', message, model: given[1].engine.name };
            }
          },
      }),
    ],
  },
  ...DELIVERY_BUGS,
  ...LIVE_BUGS,
];

/** What a store does on a database in one statement, and more, in one transaction. */
function inTransaction<Result>(sql: Sql | Database, work: (tx: Sql) => Promise<Result>): Promise<Result> {
  return 'transaction' in sql ? sql.transaction(work) : work(sql);
}

async function underCurrentLease<Held extends Claim>(sql: Sql, claim: Held): Promise<Held> {
  const [row] = await sql.rows<{ lease: number }>({ text: 'select lease from jobs where id = $1', values: [claim.id] });
  return { ...claim, ...row };
}

async function addToWaiting(sql: Sql, { shard, accountId }: { shard: number; accountId: string }, jobs: number) {
  const text = 'update job_queues set waiting = waiting + $3 where shard = $1 and account_id = $2';
  await sql.run({ text, values: [shard, accountId, jobs] });
}

async function forgetLeases(sql: Sql, ids: string[]): Promise<string[]> {
  await sql.run({ text: 'update jobs set lease = 0 where id = any($1::text[])', values: [ids] });
  return ids;
}
