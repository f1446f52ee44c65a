import { PLAN_FEATURES } from '../engines/engine.ts';
import { component, idSchema, nullable, oneOf, pageSchema, Type, timeSchema } from '../http/schema.ts';
import { JOB_ERROR_TYPES } from '../jobs/job.ts';
import { PLANS } from '../rules/accounts/plan.ts';
import { JOB_STATES, WAITING_FOR } from '../rules/jobs/job-state.ts';
import { webhookSchema } from '../webhooks/endpoints/view.ts';

const count = (description?: string) => Type.Integer({ minimum: 0, ...(description && { description }) });
const accountId = idSchema('acct', 'acct_01kamz2f3q8r5t7v9wxyzabcde');

const engineSchema = Type.Object({
  plan: oneOf(PLANS),
  engine: Type.String(),
  languages: nullable(Type.Array(Type.String()), 'Null: any.'),
  features: Type.Array(oneOf(PLAN_FEATURES)),
  licence: nullable(Type.String(), 'Null when unknown.'),
});

const waitSchema = Type.Object({
  plan: oneOf(PLANS),
  waiting_for: oneOf(WAITING_FOR, { description: 'What every transcriber lacks for the plan.' }),
  since: timeSchema,
  jobs: count('Queued jobs of the plan.'),
});

/** What runs and waits, over all accounts. */
export const overviewSchema = Type.Object(
  {
    now: timeSchema,
    version: Type.String(),
    accounts: count(),
    jobs: Type.Object({
      queued: count(),
      processing: count(),
      oldest_queued_seconds: Type.Number({ minimum: 0 }),
    }),
    deliveries: Type.Object({
      due: count('Those under way included.'),
      oldest_due_seconds: Type.Number({ minimum: 0 }),
    }),
    webhooks: Type.Object({ active: count(), disabled: count() }),
    nodes: Type.Object({ alive: count('Reported themselves within 30 s.'), not_ready: count('Of those alive.') }),
    engines: Type.Array(engineSchema, { description: 'Of each plan, as a transcriber reported it last.' }),
    waits: Type.Array(waitSchema, { description: 'The plans whose jobs wait for more than their turn.' }),
  },
  component('Overview', {
    now: '2026-11-21T09:30:00.000Z',
    version: '0.2.0',
    accounts: 12,
    jobs: { queued: 3, processing: 2, oldest_queued_seconds: 4.2 },
    deliveries: { due: 1, oldest_due_seconds: 0.3 },
    webhooks: { active: 9, disabled: 1 },
    nodes: { alive: 2, not_ready: 0 },
    engines: [
      {
        plan: 'pro',
        engine: 'parakeet-tdt-0.6b-v3',
        languages: ['en'],
        features: ['words'],
        licence: 'CC-BY-4.0',
      },
    ],
    waits: [{ plan: 'pro', waiting_for: 'engine', since: '2026-11-21T09:27:12.000Z', jobs: 3 }],
  }),
);

const nodeSchema = Type.Object(
  {
    id: Type.String(),
    host: Type.String(),
    version: Type.String(),
    roles: Type.Array(Type.String()),
    alive: Type.Boolean({ description: 'It reported itself within the last 30 s.' }),
    ready: Type.Boolean(),
    reasons: Type.Array(Type.String(), { description: 'Why it is not ready.' }),
    started_at: timeSchema,
    seen_at: timeSchema,
  },
  component('Node', {
    id: 'node-1',
    host: 'transcribe-1',
    version: '0.2.0',
    roles: ['transcriber'],
    alive: true,
    ready: true,
    reasons: [],
    started_at: '2026-11-21T09:00:00.000Z',
    seen_at: '2026-11-21T09:30:00.000Z',
  }),
);
export const nodeListSchema = Type.Object({ data: Type.Array(nodeSchema) }, component('NodeList'));

const jobSummarySchema = Type.Object(
  {
    id: idSchema('job', 'job_01kamz2f3q8r5t7v9wxyzabcde'),
    account_id: accountId,
    status: oneOf(JOB_STATES),
    plan: oneOf(PLANS),
    model: nullable(Type.String()),
    duration_seconds: nullable(Type.Number({ minimum: 0 })),
    size_bytes: nullable(Type.Integer({ minimum: 0 })),
    progress: Type.Number({ minimum: 0, maximum: 1 }),
    attempts: Type.Integer({ minimum: 0 }),
    holder: nullable(Type.String(), 'The process that works on it, or did so last: `<node>/<process>`.'),
    error_type: nullable(oneOf(JOB_ERROR_TYPES)),
    created_at: timeSchema,
    started_at: nullable(timeSchema),
    completed_at: nullable(timeSchema),
  },
  component('JobSummary', undefined, 'A job without anything that its account sent or was given.'),
);
export const jobSummaryListSchema = pageSchema('JobSummaryList', jobSummarySchema);

const accountWebhookSchema = Type.Object(
  { ...webhookSchema.properties, account_id: accountId },
  component('AccountWebhook'),
);
export const accountWebhookListSchema = pageSchema('AccountWebhookList', accountWebhookSchema);

const modelSchema = Type.Object(
  {
    name: Type.String(),
    title: Type.String(),
    family: Type.String(),
    size_bytes: Type.Integer({ minimum: 0 }),
    memory_mb: Type.Number({ minimum: 0, description: 'Of one engine process, about.' }),
    languages: Type.Array(Type.String()),
    licence: Type.String(),
    attribution: Type.String(),
    advice: Type.String(),
    wer: nullable(
      Type.Object({
        percent: Type.Number({ minimum: 0 }),
        test_set: Type.String(),
        source: Type.String(),
        checked: Type.Boolean({ description: 'The figure was compared with its source.' }),
      }),
      'Published word error rate; null for models that transcribe nothing, or without a figure.',
    ),
    pulled: Type.Boolean({ description: 'On the node that answers.' }),
  },
  component('CatalogueModel'),
);

export const modelPullSchema = Type.Object(
  {
    model: Type.String(),
    status: oneOf(['running', 'completed', 'canceled', 'failed']),
    done_bytes: Type.Integer({ minimum: 0 }),
    total_bytes: Type.Integer({ minimum: 0 }),
    message: nullable(Type.String({ description: 'Of a pull that failed: what went wrong, and what to do.' })),
    started_at: timeSchema,
    ended_at: nullable(timeSchema),
  },
  component('ModelPull', {
    model: 'parakeet-110m',
    status: 'running',
    done_bytes: 52_428_800,
    total_bytes: 131_662_124,
    message: null,
    started_at: '2026-11-21T10:30:00.000Z',
    ended_at: null,
  }),
);
export const modelListSchema = Type.Object(
  {
    data: Type.Array(modelSchema),
    others: Type.Array(Type.String(), { description: 'Folders of DATA_DIR/models that are not in the catalogue.' }),
    engines: Type.Array(engineSchema),
    node: Type.Object(
      {
        host: Type.String({ description: 'Name of the machine.' }),
        transcribes: Type.Boolean({ description: 'Models are pulled onto nodes that do.' }),
      },
      { description: 'The node that answers.' },
    ),
    pull: nullable(modelPullSchema),
  },
  component('CatalogueModelList'),
);

const settingSchema = Type.Object(
  {
    name: Type.String(),
    value: Type.Unknown({ description: 'As the setting is written; lists as arrays.' }),
    is_default: Type.Boolean(),
    is_secret: Type.Boolean({ description: 'Then the value is `(hidden)`, or null when it is not set.' }),
    meaning: Type.String(),
  },
  component('Setting', {
    name: 'PORT',
    value: 8080,
    is_default: true,
    is_secret: false,
    meaning: 'port to listen on',
  }),
);
export const settingListSchema = Type.Object({ data: Type.Array(settingSchema) }, component('SettingList'));
