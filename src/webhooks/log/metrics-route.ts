import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, nullable, oneOf, type Static, Type, timeSchema } from '../../http/schema.ts';
import { readTime, timeParameter } from '../../http/time-parameter.ts';
import { openFairSemaphore } from '../../platform/fair-semaphore.ts';
import { FAILURE_REASONS } from '../../rules/webhooks/delivery-outcome.ts';
import { BUCKETS, type BucketGrid, divideTime } from '../../rules/webhooks/time-buckets.ts';
import { webhookOr404 } from '../endpoints/own-webhook.ts';
import { type LogFigures, readLogFigures } from './metrics-store.ts';

// Deliveries that wait longer, because of a limit or a backlog, are missing from the first buckets only.
const LOOK_BACK_MS = 900_000;
const JITTER = 1.1;
// Each may keep a core of the database for 0.1 s.
const READS_AT_ONCE = { permits: 4, perOwner: 2 };

const countSchema = (description: string) => Type.Integer({ minimum: 0, description });

const bucketSchema = Type.Object(
  {
    start: timeSchema,
    attempts: countSchema('Attempts that ended in this time: succeeded and failed ones.'),
    succeeded: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0 }),
    dropped: countSchema(
      'Attempts that were never made, because the webhook was disabled or deleted, or the job erased.',
    ),
    reasons: Type.Object(Object.fromEntries(FAILURE_REASONS.map((reason) => [reason, Type.Optional(Type.Integer())])), {
      description: 'How many attempts failed for each reason; without those that did not occur.',
    }),
    p50_ms: nullable(Type.Number(), 'Median duration of the attempts; null without any.'),
    p95_ms: nullable(Type.Number(), '95 % of the attempts took at most this time.'),
    waiting: countSchema(
      'Deliveries that waited or were under way at the end of this time, or now in the current one.',
    ),
  },
  component('WebhookMetricsInterval', {
    start: '2026-11-21T09:00:00.000Z',
    attempts: 14,
    succeeded: 12,
    failed: 2,
    dropped: 0,
    reasons: { timeout: 2 },
    p50_ms: 41.2,
    p95_ms: 5000,
    waiting: 1,
  }),
);
const metricsSchema = Type.Object(
  {
    bucket: oneOf(BUCKETS),
    from: timeSchema,
    to: timeSchema,
    truncated: Type.Boolean({
      description: 'The time holds too many attempts to be read: the oldest buckets are left out.',
    }),
    data: Type.Array(bucketSchema, { description: 'Every bucket of the time, oldest first, in UTC.' }),
  },
  component('WebhookMetrics'),
);

/** GET /v1/webhooks/:id/metrics. @param maxEntries  25,000 without it */
export function webhookMetrics({ db, clock, config, maxEntries }: Runtime & { maxEntries?: number }): Route {
  const atOnce = openFairSemaphore(READS_AT_ONCE);
  return defineRoute({
    method: 'GET',
    path: '/v1/webhooks/:id/metrics',
    auth: 'key',
    scope: 'webhooks:read',
    summary: 'Count the attempts of a webhook per minute, hour or day, with their durations',
    description:
      'From the delivery log, as far as it is kept. from and to are widened to whole buckets; without them the last hour, day or 30 days. At most 1,440 minutes, 744 hours or 366 days.',
    tag: 'Deliveries',
    schema: {
      params: Type.Object({ id: Type.String() }),
      query: Type.Object({
        from: Type.Optional(timeParameter()),
        to: Type.Optional(timeParameter('Default: now.')),
        bucket: oneOf(BUCKETS, { default: 'hour' }),
      }),
      answers: { 200: metricsSchema },
    },
    async handle({ account, params, query: { from, to, bucket }, signal }) {
      const webhook = await webhookOr404(db, account, params.id);
      const time = { fromMs: readMs('from', from), toMs: readMs('to', to), bucket };
      const grid = divideTime(time, clock.now());
      if ('param' in grid)
        throw new ApiError('invalid_request', `${grid.param} ${grid.message}.`, { param: grid.param });
      const [firstDelayMs = 0, ...delaysMs] = config.webhookRetryDelaysMs;
      const lookBack = {
        firstAttemptsMs: LOOK_BACK_MS + firstDelayMs,
        retriesMs: LOOK_BACK_MS + JITTER * Math.max(0, ...delaysMs),
      };
      const place = { shard: account.shard, webhookId: webhook.id };
      const order = { grid, lookBack, ...(maxEntries && { maxEntries }) };
      const figures = await atOnce(account.id, () => readLogFigures(db, place, order), signal);
      return { status: 200, body: { bucket, ...showFigures(grid, figures) } };
    },
  });
}

function showFigures(grid: BucketGrid, figures: LogFigures): Omit<Static<typeof metricsSchema>, 'bucket'> {
  const { fromMs, bucketMs, count } = grid;
  const startMs = (number: number) => fromMs + (number - 1) * bucketMs;
  const ended = Map.groupBy(figures.ended, ({ number }) => number);
  const begun = new Map(figures.begun.map(({ number, entries }) => [number, entries]));
  const durations = new Map(figures.durations.map((each) => [each.number, each]));
  const data: Static<typeof bucketSchema>[] = [];
  let waiting = 0;
  for (let number = 0; number <= count; number++) {
    const alike = ended.get(number) ?? [];
    waiting += (begun.get(number) ?? 0) - sum(alike);
    if (number === 0 || startMs(number) < (figures.readFromMs ?? fromMs)) continue;
    const [succeeded, failed, dropped] = (['succeeded', 'failed', 'dropped'] as const).map((status) =>
      alike.filter((entries) => entries.status === status),
    ) as [LogFigures['ended'], LogFigures['ended'], LogFigures['ended']];
    data.push({
      start: new Date(startMs(number)).toISOString(),
      attempts: sum(succeeded) + sum(failed),
      succeeded: sum(succeeded),
      failed: sum(failed),
      dropped: sum(dropped),
      reasons: Object.fromEntries(failed.map(({ reason, entries }) => [reason, entries])),
      p50_ms: durations.get(number)?.p50 ?? null,
      p95_ms: durations.get(number)?.p95 ?? null,
      waiting: Math.max(0, waiting),
    });
  }
  const to = new Date(startMs(count + 1)).toISOString();
  return { from: data[0]?.start ?? to, to, truncated: data.length < count, data };
}

function sum(alike: LogFigures['ended']): number {
  return alike.reduce((total, { entries }) => total + entries, 0);
}

function readMs(param: string, text: string | undefined): number | null {
  return readTime(param, text)?.getTime() ?? null;
}
