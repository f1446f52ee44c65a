import type { Account } from '../../accounts/account.ts';
import { findValidKeys } from '../../accounts/keys/key-store.ts';
import { publicPage } from '../../accounts/public-page.ts';
import { recordChange } from '../../audit/record.ts';
import type { Sql } from '../../db/database.ts';
import type { Runtime } from '../../db/runtime.ts';
import { ApiError } from '../../http/api-error.ts';
import { requireScope } from '../../http/authentication.ts';
import { defineRoute, type Route } from '../../http/route.ts';
import { component, idSchema, nullable, Type, timeSchema } from '../../http/schema.ts';
import { makeId } from '../../platform/clock.ts';
import { isId } from '../../rules/ids.ts';
import { jobHeadOr404 } from '../own-job.ts';
import { deleteShare, findSharesOfJob, insertShare, lockJobToShare, type Share } from './share-store.ts';
import { makeShareToken } from './share-token.ts';

const DAY_SECONDS = 86_400;
const EXPIRES_IN = { minimum: 60, maximum: 30 * DAY_SECONDS, default: 7 * DAY_SECONDS };
const MAX_SHARES_PER_JOB = 20;
const TAG = 'Sharing';
const SHARE_ID = 'shr_01kamz2f3q8r5t7v9wxyzabcde';

const id = idSchema('shr', SHARE_ID);
const expiresAt = { ...timeSchema, description: 'Not later than the API key that made the link expires.' };
const newShareSchema = Type.Object(
  {
    id,
    url: Type.String({
      description:
        'A page with the transcript; relative to the address of the service unless PUBLIC_URL names it. Shown only ' +
        'here. What follows the last slash is the token of `GET /v1/shared/{token}`.',
    }),
    expires_at: expiresAt,
  },
  component('NewShare', { id: SHARE_ID, url: '/#/shared/…', expires_at: '2026-11-28T09:30:00.000Z' }),
);
const shareSchema = Type.Object(
  {
    id,
    created_at: timeSchema,
    expires_at: expiresAt,
    opened_count: Type.Integer({ minimum: 0, description: 'How often the transcript was read by it, files included.' }),
    last_opened_at: nullable(timeSchema),
  },
  component('Share', {
    id: SHARE_ID,
    created_at: '2026-11-21T09:30:00.000Z',
    expires_at: '2026-11-28T09:30:00.000Z',
    opened_count: 3,
    last_opened_at: '2026-11-21T11:02:00.000Z',
  }),
);
const shareListSchema = Type.Object(
  { data: Type.Array(shareSchema, { maxItems: MAX_SHARES_PER_JOB }) },
  component('ShareList'),
);
const jobParams = Type.Object({ id: Type.String({ description: 'job_…' }) });

/** The routes with which an account makes, lists and ends links to the transcript of a job. */
export function shareRoutes(runtime: Runtime): Route[] {
  return [createRoute(runtime), listRoute(runtime), endRoute(runtime)];
}

function createRoute({ db, config }: Runtime): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/jobs/:id/share',
    auth: 'key',
    scope: 'jobs:write',
    replaysToSameKey: true,
    summary: 'Create a link that shows the transcript of a completed job to whoever has it, for a limited time',
    description:
      'The key needs `jobs:read` too. The link shows the edited version as it is when it is opened, and nothing else of ' +
      'the account. It ends at `expires_at`, when it is deleted, with the job, and with the key or the user that made it. ' +
      `It opens nothing while the account is suspended. A job has at most ${MAX_SHARES_PER_JOB} links at a time.`,
    links: { delete_jobs_id_shares_share_id: { id: '$request.path.id', share_id: '$response.body#/id' } },
    tag: TAG,
    schema: {
      params: jobParams,
      body: Type.Object({ expires_in: Type.Optional(Type.Integer({ ...EXPIRES_IN, description: 'Seconds.' })) }),
      answers: { 201: newShareSchema },
    },
    async handle({ account, params, body, actor, idempotency, note }) {
      const key = actor.key!;
      requireScope(key, 'jobs:read');
      const job = { shard: account.shard, accountId: account.id, id: params.id };
      const { token, hash } = makeShareToken(account.id);
      const wanted = { ...job, id: makeId('shr'), jobId: params.id, keyId: key.id, keyExpiresAt: key.expiresAt, hash };
      return await db.transaction(async (tx) => {
        await requireCompleted(tx, job);
        if ((await findOpenShares(tx, job)).length >= MAX_SHARES_PER_JOB) {
          throw new ApiError('conflict', `A job has at most ${MAX_SHARES_PER_JOB} links at a time; end one first.`);
        }
        const share = await insertShare(tx, { ...wanted, seconds: body.expires_in ?? EXPIRES_IN.default });
        const expires = share.expiresAt.toISOString();
        const details = { job_id: params.id, expires_at: expires };
        await recordChange(tx, actor, { accountId: account.id, action: 'share.created', targetId: share.id, details });
        note({ job_id: params.id, share_id: share.id });
        const url = publicPage(config, `#/shared/${token}`);
        return await idempotency.saveAnswer(tx, { status: 201, body: { id: share.id, url, expires_at: expires } });
      });
    },
  });
}

function listRoute({ db }: Runtime): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/jobs/:id/shares',
    auth: 'key',
    scope: 'jobs:read',
    summary: 'List the links to the transcript of a job that have not ended, newest first',
    tag: TAG,
    schema: {
      params: jobParams,
      answers: { 200: shareListSchema },
    },
    async handle({ account, params }) {
      const job = await jobHeadOr404(db, account, params.id);
      const shares = await findOpenShares(db, { shard: account.shard, accountId: account.id, id: job.id });
      return { status: 200, body: { data: shares.map(showShare) } };
    },
  });
}

function endRoute({ db }: Runtime): Route {
  return defineRoute({
    method: 'DELETE',
    path: '/v1/jobs/:id/shares/:share_id',
    auth: 'key',
    scope: 'jobs:write',
    summary: 'End a link to the transcript of a job at once',
    tag: TAG,
    schema: {
      params: Type.Object({ ...jobParams.properties, share_id: Type.String({ description: 'shr_…' }) }),
      answers: { 204: null },
    },
    async handle({ account, params, actor, note }) {
      const job = { shard: account.shard, accountId: account.id, id: params.id };
      await db.transaction(async (tx) => {
        if (!isId('shr', params.share_id) || !(await deleteShare(tx, job, params.share_id))) {
          throw new ApiError('not_found', 'There is no such link.');
        }
        await recordChange(tx, actor, {
          accountId: account.id,
          action: 'share.deleted',
          targetId: params.share_id,
          details: { job_id: params.id },
        });
      });
      note({ job_id: params.id, share_id: params.share_id });
      return { status: 204 };
    },
  });
}

/** Locks a job for the rest of the transaction. @throws ApiError  404, or 409 for a job without a transcript */
async function requireCompleted(tx: Sql, job: { shard: number; accountId: string; id: string }): Promise<void> {
  const state = isId('job', job.id) ? await lockJobToShare(tx, job) : null;
  if (state === null) throw new ApiError('not_found', 'There is no such job.');
  if (state === 'completed') return;
  throw new ApiError('conflict', `The job is ${state}; only a completed job has a transcript.`);
}

/** The links to a job that have neither expired nor ended with their key. */
async function findOpenShares(
  sql: Sql,
  job: { shard: number; accountId: Account['id']; id: string },
): Promise<Share[]> {
  const shares = await findSharesOfJob(sql, job);
  const keys = shares.map(({ shard, keyId }) => ({ shard, id: keyId }));
  const valid = keys.length === 0 ? null : await findValidKeys(sql, keys, { scope: 'jobs:read' });
  return shares.filter(({ keyId }) => valid?.has(keyId));
}

function showShare({ id: shareId, createdAt, expiresAt: end, openedCount, lastOpenedAt }: Share) {
  return {
    id: shareId,
    created_at: createdAt.toISOString(),
    expires_at: end.toISOString(),
    opened_count: openedCount,
    last_opened_at: lastOpenedAt?.toISOString() ?? null,
  };
}
