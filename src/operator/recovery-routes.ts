import { recordChange } from '../audit/record.ts';
import { ApiError } from '../http/api-error.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, oneOf, Type } from '../http/schema.ts';
import { readTime, timeParameter } from '../http/time-parameter.ts';
import type { JobsRuntime } from '../jobs/api/jobs-api.ts';
import { JOB_ERROR_TYPES } from '../jobs/job.ts';
import { retryFailedJobs } from '../jobs/stored-audio/retry-failed.ts';
import { recoverAllWebhooks } from '../webhooks/log/recover-all.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });
const dryRun = Type.Boolean({ default: false, description: 'Count only, and change nothing.' });

const recoveredSchema = Type.Object(
  {
    webhooks: count('Webhooks that missed events, or were enabled.'),
    enabled: count('Webhooks that were enabled.'),
    events: count('Deliveries that are sent, or would be.'),
  },
  component('WebhooksRecovered', { webhooks: 3, enabled: 2, events: 41 }),
);

const retriedSchema = Type.Object(
  {
    jobs: count('New jobs, or those that would be made.'),
    skipped: Type.Object({
      audio_gone: count('Jobs whose audio is no longer stored.'),
      insufficient_balance: count('Jobs that the balance of their account does not cover.'),
      account_gone: count('Jobs of accounts that were deleted.'),
    }),
    next_since: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Only where more than 500 jobs failed: ask again with this as failed_since.',
      }),
    ),
  },
  component('JobsRetried', { jobs: 12, skipped: { audio_gone: 1, insufficient_balance: 0, account_gone: 0 } }),
);

/** What an operator does for all accounts after an outage. A call that is made again repeats nothing. */
export function recoveryRoutes(runtime: JobsRuntime): Route[] {
  return [recoverWebhooksRoute(runtime), retryJobsRoute(runtime)];
}

function recoverWebhooksRoute({ db, clock }: JobsRuntime): Route {
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/webhooks/recover',
    auth: 'admin',
    summary: 'Send the events of a time again that webhooks of all accounts did not accept',
    description: [
      'With `disabled_since`, webhooks that the service disabled from then on are enabled first.',
      'With `dry_run` nothing is changed or sent, and the answer is a 200.',
    ].join(' '),
    tag: 'Operation',
    schema: {
      body: Type.Object({
        since: timeParameter(),
        disabled_since: Type.Optional(timeParameter()),
        dry_run: dryRun,
      }),
      answers: { 200: recoveredSchema, 202: recoveredSchema },
    },
    async handle({ body, actor, idempotency, note }) {
      const now = new Date(clock.now());
      const since = notInFuture('since', body.since, now);
      const disabledSince = body.disabled_since === undefined ? null : readTime('disabled_since', body.disabled_since);
      const total = await recoverAllWebhooks(db, { since, disabledSince, isDryRun: body.dry_run, now });
      note(total);
      if (body.dry_run) return { status: 200, body: total };
      return await db.transaction(async (tx) => {
        const details = { since: since.toISOString(), ...total };
        await recordChange(tx, actor, { accountId: '', action: 'webhooks.recovered', targetId: '', details });
        return await idempotency.saveAnswer(tx, { status: 202, body: total });
      });
    },
  });
}

function retryJobsRoute(runtime: JobsRuntime): Route {
  const { db, clock } = runtime;
  return defineRoute({
    method: 'POST',
    path: '/admin/v1/jobs/retry',
    auth: 'admin',
    summary: 'Transcribe the stored audio of failed jobs of all accounts again, as new jobs',
    description: [
      'Each job is retried once, with the options and the cost of the first. 500 jobs a call.',
      'With `dry_run` nothing is made, and the answer is a 200.',
    ].join(' '),
    tag: 'Operation',
    schema: {
      body: Type.Object({
        failed_since: timeParameter(),
        error_type: oneOf(JOB_ERROR_TYPES, { description: 'Only jobs that failed with this error.' }),
        dry_run: dryRun,
      }),
      answers: { 200: retriedSchema, 202: retriedSchema },
    },
    async handle({ body, actor, idempotency, note }) {
      const until = new Date(clock.now());
      const since = notInFuture('failed_since', body.failed_since, until);
      const errorType = body.error_type;
      const done = await retryFailedJobs(runtime, { since, until, errorType, isDryRun: body.dry_run });
      const { retried: jobs, audio_gone, insufficient_balance, account_gone, nextSince } = done;
      const skipped = { audio_gone, insufficient_balance, account_gone };
      const answer = { jobs, skipped, ...(nextSince !== null && { next_since: nextSince }) };
      note({ retried: jobs });
      if (body.dry_run) return { status: 200, body: answer };
      return await db.transaction(async (tx) => {
        const details = { failed_since: since.toISOString(), error_type: errorType, jobs, ...skipped };
        await recordChange(tx, actor, { accountId: '', action: 'jobs.retried', targetId: '', details });
        return await idempotency.saveAnswer(tx, { status: 202, body: answer });
      });
    },
  });
}

function notInFuture(param: string, text: string, now: Date): Date {
  const time = readTime(param, text)!;
  if (time <= now) return time;
  throw new ApiError('invalid_request', `${param} must not be in the future.`, { param });
}
