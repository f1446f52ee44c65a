import { findAccount } from '../../accounts/store.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { csvField, jsonOrCsv, jsonOrCsvAnswer } from '../../http/csv.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, oneOf, type Static, Type, timeSchema } from '../../http/schema.ts';
import { readTime, timeParameter } from '../../http/time-parameter.ts';
import { PLANS } from '../../rules/accounts/plan.ts';
import { isId } from '../../rules/ids.ts';
import { creditsFromUnits } from '../../rules/jobs/price.ts';
import {
  endOfBucket,
  MAX_USAGE_DAYS,
  USAGE_BUCKETS,
  USAGE_HOURS_KEPT_DAYS,
  usageRange,
} from '../../rules/jobs/usage-range.ts';
import { sumUsage, USAGE_GROUPS, type UsageGroup, type UsageRow } from './usage-store.ts';

// 366 days with 27 keys or models each; 2 MB of JSON.
const MAX_ROWS = 10_000;

const usageFields = {
  from: Type.Optional(timeParameter('The first time, or day in UTC; by default a day, 30 days or a year before `to`.')),
  to: Type.Optional(timeParameter('The time up to which; by default now.')),
  bucket: Type.Optional(
    oneOf(USAGE_BUCKETS, {
      default: 'day',
      description: `In UTC. At most ${MAX_USAGE_DAYS.hour} days of hours, ${MAX_USAGE_DAYS.day} of days, ${MAX_USAGE_DAYS.month} of months.`,
    }),
  ),
  group_by: Type.Optional(oneOf(USAGE_GROUPS, { description: 'One row for each in a bucket.' })),
  ...csvField,
};
const usageQuery = Type.Object(usageFields);

const rowSchema = Type.Object(
  {
    start: timeSchema,
    end: timeSchema,
    plan: Type.Optional(oneOf(PLANS, { description: 'With group_by=plan.' })),
    model: Type.Optional(nullable(Type.String(), 'With group_by=model; null: jobs that ended before they had one.')),
    key_id: Type.Optional(nullable(Type.String(), 'With group_by=key; the key may be deleted since.')),
    jobs: Type.Integer({ description: 'Jobs that ended, in whichever state.' }),
    failed: Type.Integer({ description: 'Those of them that failed.' }),
    canceled: Type.Integer({ description: 'Those of them that were canceled.' }),
    audio_seconds: Type.Number({ description: 'Length of the audio of these jobs.' }),
    billed_seconds: Type.Number({ description: 'Length that was charged; with multichannel that of each channel.' }),
    cost: Type.Number({ description: 'Credits.' }),
  },
  component('UsageRow'),
);

const usageSchema = Type.Object(
  {
    from: timeSchema,
    to: timeSchema,
    bucket: oneOf(USAGE_BUCKETS),
    data: Type.Array(rowSchema, { description: 'Oldest first; without buckets in which no job ended.' }),
  },
  component('Usage', {
    from: '2026-11-01T00:00:00.000Z',
    to: '2026-12-01T00:00:00.000Z',
    bucket: 'day',
    data: [
      {
        start: '2026-11-21T00:00:00.000Z',
        end: '2026-11-22T00:00:00.000Z',
        plan: 'pro',
        jobs: 12,
        failed: 1,
        canceled: 0,
        audio_seconds: 4210.5,
        billed_seconds: 4100,
        cost: 136.666667,
      },
    ],
  }),
);

const usageAnswers = { 200: jsonOrCsv(usageSchema) };

const DESCRIPTION =
  'A job counts when it ends, and still does when it is erased. `from` and `to` are extended to whole buckets, as the ' +
  `answer shows them. The figures of each hour are kept for ${USAGE_HOURS_KEPT_DAYS} days, those of each day without end.`;

/** What the account used, and the same of any account for the operator. */
export function usageRoute(runtime: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/usage',
    auth: 'key',
    scope: 'usage:read',
    summary: 'Jobs, lengths and cost per hour, day or month',
    description: DESCRIPTION,
    tag: 'Balance',
    schema: { query: usageQuery, answers: usageAnswers },
    handle: async ({ account, query, header }) =>
      await answerUsage(runtime, account, { ...query, accept: header('accept') }),
  });
}

/** The usage of any account, for the operator. */
export function adminUsageRoute(runtime: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/admin/v1/usage',
    auth: 'admin',
    summary: 'Jobs, lengths and cost of an account per hour, day or month',
    description: DESCRIPTION,
    errors: ['not_found'],
    tag: 'Accounts',
    schema: {
      query: Type.Object({ account_id: Type.String({ description: 'acct_…' }), ...usageFields }),
      answers: usageAnswers,
    },
    async handle({ query: { account_id: id, ...query }, header }) {
      const account = isId('acct', id) ? await findAccount(runtime.db, id) : null;
      if (account === null) throw new ApiError('not_found', 'There is no such account.', { param: 'account_id' });
      return await answerUsage(runtime, account, { ...query, accept: header('accept') });
    },
  });
}

async function answerUsage(
  runtime: Runtime,
  account: { shard: number; id: string },
  { format, accept, ...query }: Static<typeof usageQuery> & { accept: string | null },
) {
  const body = await readUsage(runtime, account, query);
  return jsonOrCsvAnswer({ format, accept }, { name: 'usage', row: rowSchema, body });
}

async function readUsage(
  { db, clock }: Runtime,
  account: { shard: number; id: string },
  { bucket = 'day', group_by: group, ...query }: Omit<Static<typeof usageQuery>, 'format'>,
): Promise<Static<typeof usageSchema>> {
  const groupBy = group ?? null;
  const from = readTime('from', query.from);
  const to = readTime('to', query.to);
  const asked = usageRange(bucket, { from, to, now: new Date(clock.now()) });
  if (asked.kind === 'refused') throw new ApiError('invalid_request', asked.message, { param: asked.param });
  const { range } = asked;
  const rows = await sumUsage(db, account, { bucket, range, groupBy, limit: MAX_ROWS + 1 });
  if (rows.length > MAX_ROWS) {
    const message = `The answer would have more than ${MAX_ROWS} rows. Ask for a shorter time, or for longer buckets.`;
    throw new ApiError('invalid_request', message, { param: 'from' });
  }
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    bucket,
    data: rows.map((row) => ({
      start: row.startsAt.toISOString(),
      end: endOfBucket(bucket, row.startsAt).toISOString(),
      ...showGroup(groupBy, row),
      jobs: row.jobs,
      failed: row.failed,
      canceled: row.canceled,
      audio_seconds: row.audioMs / 1000,
      billed_seconds: row.billedMs / 1000,
      cost: creditsFromUnits(row.costUnits),
    })),
  };
}

function showGroup(groupBy: UsageGroup | null, { groupName }: UsageRow) {
  const name = groupName || null;
  switch (groupBy) {
    case 'plan':
      return { plan: name as (typeof PLANS)[number] };
    case 'model':
      return { model: name };
    case 'key':
      return { key_id: name };
    case null:
      return {};
  }
}
