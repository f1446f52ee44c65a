import { recordChange } from '../audit/record.ts';
import { ApiError } from '../http/api-error.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { component, oneOf, Type } from '../http/schema.ts';
import { readTime, timeParameter } from '../http/time-parameter.ts';
import type { JobsRuntime } from '../jobs/api/jobs-api.ts';
import { JOB_ERROR_TYPES, type JobErrorType } from '../jobs/job.ts';
import type { EndedWith } from '../jobs/stored-audio/ended-jobs-store.ts';
import { retryEndedJobs } from '../jobs/stored-audio/retry-ended.ts';
import { recoverAllWebhooks } from '../webhooks/log/recover-all.ts';

const MS_PER_HOUR = 3_600_000;

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
        description: 'Only where more than 500 jobs ended so: ask again with this as failed_since or completed_since.',
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
    summary: 'Transcribe the stored audio of jobs of all accounts again that failed, or that lack text, as new jobs',
    description: [
      'Give `failed_since` and `error_type`, or `warning`: speech for which the engine gave no text.',
      'Each job is retried once, with the options and the cost of the first. 500 jobs a call.',
      'With `dry_run` nothing is made, and the answer is a 200.',
    ].join(' '),
    tag: 'Operation',
    schema: {
      body: Type.Object({
        failed_since: Type.Optional(timeParameter()),
        error_type: Type.Optional(oneOf(JOB_ERROR_TYPES, { description: 'Jobs that failed with this error.' })),
        warning: Type.Optional(oneOf(['untranscribed'], { description: 'Jobs that completed with this warning.' })),
        completed_since: Type.Optional(timeParameter('Beside `warning`; absent: since the oldest audio that is kept.')),
        dry_run: dryRun,
      }),
      answers: { 200: retriedSchema, 202: retriedSchema },
    },
    async handle({ body, actor, idempotency, note }) {
      const until = new Date(clock.now());
      const { since, endedWith } = readWanted(body, until, runtime.config.audioRetentionHours);
      const done = await retryEndedJobs(runtime, { since, until, endedWith, isDryRun: body.dry_run });
      const { retried: jobs, audio_gone, insufficient_balance, account_gone, nextSince } = done;
      const skipped = { audio_gone, insufficient_balance, account_gone };
      const answer = { jobs, skipped, ...(nextSince !== null && { next_since: nextSince }) };
      note({ retried: jobs });
      if (body.dry_run) return { status: 200, body: answer };
      return await db.transaction(async (tx) => {
        const { failed_since, error_type, warning } = body;
        const asked = warning ? { completed_since: since.toISOString(), warning } : { failed_since, error_type };
        const details = { ...asked, jobs, ...skipped };
        await recordChange(tx, actor, { accountId: '', action: 'jobs.retried', targetId: '', details });
        return await idempotency.saveAnswer(tx, { status: 202, body: answer });
      });
    },
  });
}

type RetryBody = {
  failed_since?: string;
  error_type?: JobErrorType;
  warning?: 'untranscribed';
  completed_since?: string;
};

/** @throws ApiError  400 */
function readWanted(body: RetryBody, now: Date, audioKeptHours: number): { since: Date; endedWith: EndedWith } {
  const { failed_since: failedSince, error_type: errorType, warning, completed_since: completedSince } = body;
  if (warning === undefined) {
    if (completedSince !== undefined) throw unclear('completed_since');
    if (failedSince === undefined) throw unclear('failed_since');
    if (errorType === undefined) throw unclear('error_type');
    return { since: notInFuture('failed_since', failedSince, now), endedWith: { errorType } };
  }
  if (failedSince !== undefined || errorType !== undefined) throw unclear('warning');
  const oldest = new Date(now.getTime() - audioKeptHours * MS_PER_HOUR);
  const since = completedSince === undefined ? oldest : notInFuture('completed_since', completedSince, now);
  return { since, endedWith: { warning } };
}

function unclear(param: string): ApiError {
  const message = 'Give failed_since and error_type, or warning with or without completed_since.';
  return new ApiError('invalid_request', message, { param });
}

function notInFuture(param: string, text: string, now: Date): Date {
  const time = readTime(param, text)!;
  if (time <= now) return time;
  throw new ApiError('invalid_request', `${param} must not be in the future.`, { param });
}
