import type { PlantedBug } from './planted-bug.ts';
import { DELIVERY_BUGS } from './planted-delivery-bugs.ts';

const QUEUE = 'src/jobs/queue/queue-store.ts';
const LEASE = 'src/jobs/queue/lease-store.ts';
const END = 'src/jobs/end/end-store.ts';
const ACCEPT = 'src/jobs/api/accept-store.ts';
const CANCEL = 'src/jobs/api/control-store.ts';
const HOLD = 'src/jobs/end/hold.ts';

/** Every `find` in the file is replaced; a test fails when the file no longer contains it. */
export const PLANTED_BUGS: PlantedBug[] = [
  {
    name: 'a job ends without a fence',
    changes: [
      {
        file: END,
        find: "where shard = $1 and id = $2 and lease = $3 and state = 'processing'",
        replace: "where shard = $1 and id = $2 and $3::int is not null and state = 'processing'",
      },
      {
        file: END,
        find: "lease = $lease and state = 'processing'",
        replace: "$lease::int is not null and state = 'processing'",
      },
    ],
  },
  {
    name: 'a claim of a job takes no lease',
    changes: [
      {
        file: QUEUE,
        find: "clock_timestamp() + $4 * interval '1 millisecond'",
        replace: "clock_timestamp() + 0 * $4 * interval '1 millisecond'",
      },
    ],
  },
  {
    name: 'jobs that other workers have claimed are claimed',
    changes: [
      {
        file: QUEUE,
        find: "id = any($2::text[]) and state = 'queued'",
        replace: 'id = any($2::text[]) and completed_at is null',
      },
    ],
  },
  {
    name: 'a job that is accepted is not counted',
    changes: [{ file: ACCEPT, find: 'set waiting = queue.waiting + 1', replace: 'set waiting = queue.waiting + 0' }],
  },
  {
    name: 'a job that starts stays counted',
    changes: [{ file: QUEUE, find: 'waiting - started.jobs', replace: 'waiting - 0 * started.jobs' }],
  },
  {
    name: 'a returned job that starts is subtracted from the count',
    changes: [{ file: QUEUE, find: 'filter (where lease = 1)', replace: 'filter (where lease > 0)' }],
  },
  {
    name: 'a job that is returned to the queue is waiting again and not counted',
    changes: [
      { file: LEASE, find: "state = 'queued', progress = 0", replace: "state = 'queued', lease = 0, progress = 0" },
    ],
  },
  {
    name: 'a waiting job that is canceled stays counted',
    changes: [{ file: CANCEL, find: 'set waiting = waiting - 1', replace: 'set waiting = waiting - 0' }],
  },
  {
    name: 'a running job that is canceled changes the count',
    changes: [{ file: CANCEL, find: "if (job.state === 'queued' && job.lease === 0 && ", replace: 'if (' }],
  },
  {
    name: 'the time of the last start is not stored',
    changes: [
      {
        file: QUEUE,
        find: 'last_started_at = started.moment',
        replace: 'last_started_at = coalesce(last_started_at, started.moment)',
      },
    ],
  },
  {
    name: 'a job is never renewed',
    changes: [
      {
        file: LEASE,
        find: "$5 * interval '1 millisecond' as lease_ends_at",
        replace: "0 * $5 * interval '1 millisecond' as lease_ends_at",
      },
    ],
  },
  {
    name: 'jobs whose lease has not ended go back to the queue',
    changes: [
      {
        file: LEASE,
        find: "state = 'processing' and next_at <= clock_timestamp()",
        replace: "state = 'processing' and next_at <= clock_timestamp() + interval '8 seconds'",
      },
    ],
  },
  {
    name: 'jobs of running processes are returned with those of ended processes',
    changes: [{ file: LEASE, find: 'and starts_with(holder, $1)', replace: 'and $1::text is not null' }],
  },
  {
    name: 'a job ends without its event',
    changes: [{ file: END, find: 'insertEventIf(IS_ENDED)', replace: "insertEventIf('false')" }],
  },
  {
    name: 'a canceled job is not counted in the usage',
    changes: [{ file: CANCEL, find: 'await addUsage(tx, canceled, rate);', replace: '' }],
  },
  {
    name: 'a lost end is counted in the usage',
    changes: [{ file: END, find: 'condition: IS_ENDED_AND_SETTLED', replace: 'condition: AFTER_ACCOUNT' }],
  },
  {
    name: 'a hold is released twice',
    changes: [
      {
        file: END,
        find: 'moveUnits({ moment: MOMENT, condition: IS_ENDED })',
        replace: 'moveUnits({ moment: MOMENT })',
      },
    ],
  },
  {
    name: 'a job is accepted that the balance does not cover',
    changes: [
      {
        file: ACCEPT,
        find: 'insertJobIf(IS_COVERED)',
        replace: "insertJobIf('true or $unlimited')",
      },
    ],
  },
  {
    name: 'a hold does not grow',
    changes: [
      {
        file: HOLD,
        find: 'if (holdGrowthUnits({ heldUnits, decodedUnits }) === 0) return null;',
        replace: 'if (decodedUnits >= 0) return null;',
      },
    ],
  },
  {
    name: 'a hold that grew is not stored in its job',
    changes: [{ file: HOLD, find: 'await setHeldUnits(tx, job, decodedUnits);', replace: '' }],
  },
  {
    name: 'a hold that grows is counted from the claim',
    changes: [{ file: HOLD, find: 'const { heldUnits } = locked;', replace: 'const { heldUnits } = job;' }],
  },
  {
    name: 'text that the client could read is free',
    changes: [
      {
        file: 'src/rules/jobs/price.ts',
        find: 'PAYS_FOR_FINISHED_PIECES.includes(end) ? transcribedUnits : 0',
        replace: 'PAYS_FOR_FINISHED_PIECES.includes(end) ? 0 : 0',
      },
    ],
  },
  {
    name: 'pieces are stored without their cost',
    changes: [
      {
        file: 'src/jobs/queue/piece-store.ts',
        find: 'greatest(transcribed_units, $7)',
        replace: 'greatest(transcribed_units, 0 * $7)',
      },
    ],
  },
  ...DELIVERY_BUGS,
];
