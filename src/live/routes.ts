import { randomBytes, timingSafeEqual } from 'node:crypto';
import { requireCurrentCaller } from '../accounts/keys/current-caller.ts';
import type { Config } from '../config/settings.ts';
import { ApiError, unauthenticated } from '../http/api-error.ts';
import { hashKey } from '../http/authentication.ts';
import { offeredProtocols, requireHandshake } from '../http/handshakes/handshake.ts';
import { type Call, defineRoute, type Route } from '../http/route.ts';
import { type Static, Type } from '../http/schema.ts';
import { permitByEngine } from '../jobs/api/transcribe.ts';
import type { Job } from '../jobs/job.ts';
import { findLiveAccess, type LiveOptions } from '../jobs/live/live-store.ts';
import { jobSchema } from '../jobs/schemas.ts';
import { findJob } from '../jobs/store.ts';
import { showJob } from '../jobs/view.ts';
import { makeId } from '../platform/clock.ts';
import { isId } from '../rules/ids.ts';
import { isTerminal } from '../rules/jobs/job-state.ts';
import { shardOf } from '../rules/shard.ts';
import { keyCaller } from './key-caller.ts';
import { LiveConnection, SUBPROTOCOL } from './live-connection.ts';
import { CONNECT_WITHIN_MS, type LiveApi } from './live-host.ts';
import { liveBody, readLiveRequest } from './live-request.ts';

/** Bytes of audio in one binary frame. */
const FRAME_MAX_BYTES = 65_536;
const AHEAD_SECONDS = 10;
const TOKEN_PROTOCOL = 'token.';

const createdSchema = Type.Object({
  id: Type.String({ description: 'Of the job: job_…' }),
  status: Type.String(),
  path: Type.String({ description: 'Of the WebSocket.' }),
  url: Type.Optional(Type.String({ description: 'Where the operator has set PUBLIC_URL.' })),
  token: Type.String({ description: 'Connects to this session, until it ends: lt_…' }),
  connect_before: Type.String({
    format: 'date-time',
    description: 'A session that nobody has connected to is canceled.',
  }),
  job: jobSchema,
  limits: Type.Object({
    frame_bytes: Type.Integer(),
    ahead_seconds: Type.Integer(),
    audio_seconds: Type.Integer(),
    resume_seconds: Type.Integer(),
  }),
});

/** Live sessions by the service's own wire: begin one, connect to it. */
export function liveRoutes(api: LiveApi): Route[] {
  return [createRoute(api), connectRoute(api)];
}

function createRoute(api: LiveApi): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/live',
    auth: 'key',
    scope: 'jobs:write',
    bucket: 'live',
    keepsBodyText: true,
    tag: 'Live transcription',
    summary: 'Begin a live session',
    description:
      'Its audio is sent over a WebSocket, which can be opened again after any cut: docs/live.md has the messages.',
    schema: { body: liveBody, answers: { 201: createdSchema } },
    errors: ['insufficient_balance', 'plan_limit', 'unavailable'],
    async handle(call) {
      const { account, actor, idempotency } = call;
      const { request, options } = readLiveRequest(call, account.plan);
      await permitByEngine(api, request, { translate_to: 'translate_to', diarize: 'diarize' });
      api.host.requirePlace();
      const id = makeId('job', api.clock);
      const token = `lt_${account.id.slice(account.id.indexOf('_') + 1)}_${randomBytes(32).toString('base64url')}`;
      const caller = { account, keyId: actor.key?.id ?? null, traceparent: actor.traceparent ?? null };
      const session = { ...caller, request, options, tokenHash: hashKey(token) };
      call.note({ job_id: id, plan: request.plan });
      return await api.host.create(id, session, async (tx, job) => {
        const answer = {
          status: 201,
          body: created(api.config, { job, token, options }),
          headers: { location: `/v1/jobs/${id}` },
        } as const;
        return await idempotency.saveAnswer(tx, answer);
      });
    },
  });
}

function created(
  config: Config,
  { job, token, options }: { job: Job; token: string; options: LiveOptions },
): Static<typeof createdSchema> {
  const path = `/v1/live/${job.id}`;
  return {
    id: job.id,
    status: job.state,
    path,
    ...(config.publicUrl !== null && { url: config.publicUrl.replace(/^http/, 'ws').replace(/\/+$/, '') + path }),
    token,
    connect_before: new Date(job.createdAt.getTime() + CONNECT_WITHIN_MS).toISOString(),
    job: showJob(job),
    limits: {
      frame_bytes: FRAME_MAX_BYTES,
      ahead_seconds: AHEAD_SECONDS,
      audio_seconds: config.maxAudioSeconds,
      resume_seconds: options.resumeSeconds,
    },
  };
}

function connectRoute(api: LiveApi): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/live/:id',
    auth: 'none',
    tag: 'Live transcription',
    summary: 'Connect to a live session (WebSocket)',
    description:
      'By the subprotocols `verbatim.live.v1` and `token.lt_…`, by `?token=`, or by an API key of the account. `?after=` is the number of the last segment that the client has.',
    schema: {
      params: Type.Object({ id: Type.String({ description: 'job_…' }) }),
      query: Type.Object({ token: Type.Optional(Type.String()), after: Type.Optional(Type.Integer({ minimum: 0 })) }),
      answers: { 101: null },
    },
    errors: ['unauthenticated', 'missing_scope', 'not_found', 'conflict', 'unavailable'],
    async handle(call) {
      requireHandshake(call.header);
      const key = await accessOf(api, call);
      const job = await findJob(api.db, key);
      if (job === null) throw notFound();
      if (isTerminal(job.state)) throw ended(job);
      await requireCurrentCaller(api.db, job, 'jobs:write');
      const taken = await api.host.take(key, job);
      if (taken === null) throw ended(job);
      const protocol = offeredProtocols(call.header).includes(SUBPROTOCOL) ? SUBPROTOCOL : null;
      return {
        status: 101,
        upgrade: {
          protocol,
          maxMessageBytes: FRAME_MAX_BYTES,
          budget: api.budgets.of(key.accountId),
          open: (socket) => new LiveConnection(api, socket, { taken, after: call.query.after ?? 0 }),
          abandon: () => void api.host.abandon(taken),
        },
      };
    },
  });
}

type Connecting = Call<{ id: string }, { token?: string | undefined }, unknown>;

/**
 * The job that the request may connect to: by a token of the session, or by a key of its account.
 * @throws ApiError  401, 403 or 404
 */
async function accessOf({ db, callers }: LiveApi, call: Connecting) {
  const { params, query, header } = call;
  const { id } = params;
  const offered = offeredProtocols(header)
    .find((name) => name.startsWith(TOKEN_PROTOCOL))
    ?.slice(TOKEN_PROTOCOL.length);
  const token = offered ?? query.token;
  if (token === undefined) {
    const headers = { 'x-api-key': header('x-api-key'), authorization: header('authorization') };
    const { account } = await keyCaller(callers, call, headers);
    if (!isId('job', id)) throw notFound();
    return { shard: account.shard, accountId: account.id, id };
  }
  const accountId = `acct_${/^lt_([0-9a-z]{1,40})_/.exec(token)?.[1] ?? ''}`;
  if (!isId('acct', accountId) || !isId('job', id)) throw wrongToken();
  const key = { shard: shardOf(accountId), accountId, id };
  const access = await findLiveAccess(db, key);
  if (access === null) throw (await findJob(db, key)) === null ? wrongToken() : ended({ id });
  if (access.tokenHash === null || !timingSafeEqual(access.tokenHash, hashKey(token))) throw wrongToken();
  return key;
}

function wrongToken(): ApiError {
  return unauthenticated('This token is not of this session; use the token that POST /v1/live answered.');
}

function notFound(): ApiError {
  return new ApiError('not_found', 'There is no such live session.');
}

function ended({ id }: Pick<Job, 'id'>): ApiError {
  return new ApiError('conflict', `The session has ended; GET /v1/jobs/${id} has its job.`);
}
