import { countAccounts } from '../accounts/store.ts';
import { showSettings } from '../config/shown-settings.ts';
import type { Runtime } from '../db/runtime.ts';
import { decodeCursor, pageFields, pageOf } from '../http/pagination.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { oneOf, type TSchema, Type } from '../http/schema.ts';
import { countRunningJobs, type JobSummary, listJobSummaries } from '../jobs/operator-store.ts';
import { measureJobBacklog } from '../jobs/queue/backlog-store.ts';
import { countQueued, findWaits } from '../jobs/waiting/wait-store.ts';
import { isId } from '../rules/ids.ts';
import { JOB_STATES } from '../rules/jobs/job-state.ts';
import { measureDeliveryBacklog } from '../webhooks/deliveries/backlog-store.ts';
import { countAllWebhooks, listAllWebhooks } from '../webhooks/endpoints/operator-store.ts';
import { showWebhook } from '../webhooks/endpoints/view.ts';
import { modelRoutes, showEngines } from './model-routes.ts';
import { listNodes } from './node-store.ts';
import {
  accountWebhookListSchema,
  jobSummaryListSchema,
  nodeListSchema,
  overviewSchema,
  settingListSchema,
} from './schemas.ts';

/** What the views for the operator run on. */
type OperatorRuntime = Runtime & { version: string };

/** What runs and waits, over all accounts, for the operator. */
export function overviewRoutes(runtime: OperatorRuntime): Route[] {
  return [
    overviewRoute(runtime),
    nodesRoute(runtime),
    jobsRoute(runtime),
    webhooksRoute(runtime),
    ...modelRoutes(runtime),
    settingsRoute(runtime),
  ];
}

/** What these routes have in common. */
function common<const Path extends string>(path: Path, summary: string) {
  return { method: 'GET', path: `/admin/v1/${path}`, auth: 'admin', summary, tag: 'Operation' } as const;
}

function overviewRoute({ db, clock, version }: OperatorRuntime): Route {
  return defineRoute({
    ...common('overview', 'Read what runs and waits, over all accounts'),
    schema: { answers: { 200: overviewSchema } },
    async handle() {
      const [accounts, queue, processing, deliveries, webhooks, nodes, engines, waits] = await Promise.all([
        countAccounts(db),
        measureJobBacklog(db),
        countRunningJobs(db),
        measureDeliveryBacklog(db),
        countAllWebhooks(db),
        listNodes(db),
        showEngines(db),
        showWaits(db),
      ]);
      const alive = nodes.filter(({ isAlive }) => isAlive);
      const body = {
        now: new Date(clock.now()).toISOString(),
        version,
        accounts,
        jobs: { queued: queue.due, processing, oldest_queued_seconds: Math.max(0, queue.oldestDueSeconds) },
        deliveries: { due: deliveries.due, oldest_due_seconds: Math.max(0, deliveries.oldestDueSeconds) },
        webhooks,
        nodes: { alive: alive.length, not_ready: alive.filter(({ ready }) => !ready).length },
        engines,
        waits,
      };
      return { status: 200, body };
    },
  });
}

/** The plans whose jobs wait because no transcriber can work on them, with how many wait. */
async function showWaits(db: Runtime['db']) {
  const waits = await findWaits(db);
  if (waits.length === 0) return [];
  const queued = new Map((await countQueued(db)).map(({ plan, jobs }) => [plan, jobs]));
  return waits.map(({ plan, waitingFor, since }) => ({
    plan,
    waiting_for: waitingFor,
    since: since.toISOString(),
    jobs: queued.get(plan) ?? 0,
  }));
}

function nodesRoute({ db }: Runtime): Route {
  return defineRoute({
    ...common('nodes', 'List the nodes that reported themselves within a day, by their start, newest first'),
    schema: { answers: { 200: nodeListSchema } },
    async handle() {
      const data = (await listNodes(db)).map(({ isAlive, startedAt, seenAt, roles, reasons, ...node }) => ({
        ...node,
        roles: [...roles],
        reasons: [...reasons],
        alive: isAlive,
        started_at: startedAt.toISOString(),
        seen_at: seenAt.toISOString(),
      }));
      return { status: 200, body: { data } };
    },
  });
}

function jobsRoute({ db }: Runtime): Route {
  return defineRoute({
    ...common('jobs', 'List the jobs of all accounts, newest first, without names, texts and metadata'),
    schema: {
      query: Type.Object({
        ...pageFields,
        status: Type.Optional(oneOf(JOB_STATES)),
        account_id: Type.Optional(Type.String({ description: 'Jobs of one account.' })),
      }),
      answers: { 200: jobSummaryListSchema },
    },
    async handle({ query: { limit, cursor, status = null, account_id: accountId = null } }) {
      if (accountId !== null && !isId('acct', accountId))
        return { status: 200, body: pageOf([], limit, showJobSummary) };
      const page = { limit: limit + 1, beforeId: decodeCursor('job', cursor) };
      const rows = await listJobSummaries(db, { status, accountId }, page);
      return { status: 200, body: pageOf(rows, limit, showJobSummary) };
    },
  });
}

function webhooksRoute({ db }: Runtime): Route {
  return defineRoute({
    ...common('webhooks', 'List the webhooks of all accounts, newest first'),
    schema: {
      query: Type.Object({
        ...pageFields,
        active: Type.Optional(Type.Boolean({ description: 'false: only those that are disabled.' })),
        account_id: Type.Optional(Type.String({ maxLength: 100, description: 'Webhooks of one account.' })),
      }),
      answers: { 200: accountWebhookListSchema },
    },
    async handle({ query: { limit, cursor, active = null, account_id: accountId = null } }) {
      const page = { limit: limit + 1, beforeId: decodeCursor('wh', cursor) };
      const rows = await listAllWebhooks(db, { active, accountId, ...page });
      const show = (row: (typeof rows)[number]) => ({ ...showWebhook(row), account_id: row.accountId });
      return { status: 200, body: pageOf(rows, limit, show) };
    },
  });
}

function settingsRoute({ config }: Runtime): Route {
  return defineRoute({
    ...common('settings', 'List the settings of the node that answers, without secrets'),
    schema: { answers: { 200: settingListSchema satisfies TSchema } },
    handle: async () => ({ status: 200, body: { data: showSettings(config) } }),
  });
}

function showJobSummary(job: JobSummary) {
  return {
    id: job.id,
    account_id: job.accountId,
    status: job.state,
    plan: job.plan,
    model: job.model,
    duration_seconds: job.durationMs === null ? null : job.durationMs / 1000,
    size_bytes: job.sizeBytes,
    progress: job.progress,
    attempts: job.attempts,
    holder: job.holder,
    error_type: job.errorType,
    created_at: job.createdAt.toISOString(),
    started_at: job.startedAt?.toISOString() ?? null,
    completed_at: job.completedAt?.toISOString() ?? null,
  };
}
