import { randomBytes } from 'node:crypto';
import type { PermittedAccount } from '../../accounts/account.ts';
import { requireCurrentCaller } from '../../accounts/keys/current-caller.ts';
import { creditRates } from '../../config/rates.ts';
import { ApiError, type ErrorType, unauthenticated } from '../../http/api-error.ts';
import { hashKey } from '../../http/authentication.ts';
import { offeredProtocols, requireHandshake } from '../../http/handshakes/handshake.ts';
import { type Call, defineRoute, type Route } from '../../http/route.ts';
import { Type } from '../../http/schema.ts';
import { CLOSE, type OpenSocket, type SocketUser } from '../../http/websocket/open-socket.ts';
import type { Plan } from '../../rules/accounts/plan.ts';
import { isId } from '../../rules/ids.ts';
import { shardOf } from '../../rules/shard.ts';
import { keyCaller } from '../key-caller.ts';
import { insertClientSecret, useClientSecret } from './client-secret-store.ts';
import { MESSAGE_MAX_BYTES, type RealtimeApi, type RealtimeCaller, RealtimeConnection } from './realtime-connection.ts';
import {
  INITIAL_SETTINGS,
  planOf,
  type RealtimeSettings,
  SettingsError,
  showSettings,
  updateSettings,
} from './session-settings.ts';
import { WaitingSockets } from './waiting-sockets.ts';

const KEY_PROTOCOL = 'openai-insecure-api-key.';
const SUBPROTOCOL = 'realtime';
// What a client sends that has not read its refusal yet.
const REFUSED_MESSAGE_MAX_BYTES = 4_096;
const SECRET_SECONDS = { min: 10, max: 7_200, usual: 600 };
const SECRET = /^ek_([0-9a-z]{1,40})_[A-Za-z0-9_-]{43}$/;

type AdmittedCaller = Pick<RealtimeCaller, 'account' | 'keyId' | 'settings'>;

/** Live sessions by OpenAI's Realtime API: connect, and make secrets for browsers. */
export function realtimeRoutes(api: RealtimeApi): Route[] {
  return [connectRoute(api, new WaitingSockets()), secretRoute(api)];
}

function connectRoute(api: RealtimeApi, waiting: WaitingSockets): Route {
  return defineRoute({
    method: 'GET',
    path: '/v1/realtime',
    auth: 'none',
    tag: 'Live transcription',
    summary: "Transcribe live by OpenAI's Realtime API (WebSocket)",
    description:
      'With `intent=transcription`, or `model` naming a plan. By an API key, or by the subprotocols `realtime` and ' +
      '`openai-insecure-api-key.<key>`, where the key may be one of `POST /v1/realtime/client_secrets`.',
    schema: {
      query: Type.Object({ intent: Type.Optional(Type.String()), model: Type.Optional(Type.String()) }),
      answers: { 101: null },
    },
    errors: ['unauthenticated', 'missing_scope'],
    async handle(call) {
      requireHandshake(call.header);
      const offered = offeredProtocols(call.header);
      const caller = await callerOf(api, call, offered);
      const settings = { ...caller.settings, model: call.query.model ?? caller.settings.model };
      const refusal = await refusalOf(api, caller.account, planOf(settings.model, caller.account.plan));
      const place = refusal ?? placeOf(waiting, caller.account);
      const isRefused = 'code' in place;
      const { requestId, traceparent = null } = call.actor;
      const admitted = { ...caller, settings, requestId, traceparent };
      return {
        status: 101,
        upgrade: {
          protocol: offered.includes(SUBPROTOCOL) ? SUBPROTOCOL : null,
          maxMessageBytes: isRefused ? REFUSED_MESSAGE_MAX_BYTES : MESSAGE_MAX_BYTES,
          budget: api.budgets.of(caller.account.id),
          open: (socket) =>
            isRefused ? refuse(socket, place) : new RealtimeConnection(api, socket, { ...admitted, ...place }),
          abandon: () => isRefused || place.leave(),
        },
      };
    },
  });
}

type Refusal = { code: ErrorType; message: string };

/** Why the account cannot begin a session now. */
async function refusalOf(api: RealtimeApi, account: PermittedAccount, plan: Plan): Promise<Refusal | null> {
  const limit = await api.limits.admit(account, 'live');
  if (limit?.kind === 'refused') {
    return { code: 'rate_limited', message: `Too many new sessions; try again in ${limit.retryAfterSeconds} s.` };
  }
  if (account.unlimited || account.hadCredit || creditRates(api.config)[plan] === 0) return null;
  return { code: 'insufficient_balance', message: 'The balance is used up. Add credits, then connect again.' };
}

function placeOf(waiting: WaitingSockets, { id }: PermittedAccount): Refusal | { leave: () => void } {
  const added = waiting.add(id);
  if ('leave' in added) return added;
  if (added.refused === 'all') {
    return { code: 'unavailable', message: 'Too many connections wait for their first audio; try again in a minute.' };
  }
  return { code: 'rate_limited', message: 'Ten connections of the account have sent no audio yet; close one of them.' };
}

function secretRoute(api: RealtimeApi): Route {
  return defineRoute({
    method: 'POST',
    path: '/v1/realtime/client_secrets',
    event: 'client_secret.created',
    auth: 'key',
    scope: 'jobs:write',
    bucket: 'live',
    tag: 'Live transcription',
    summary: 'Make a secret for a browser',
    description: "OpenAI's request and answer. The secret begins at most 10 live sessions, and nothing else.",
    schema: {
      body: Type.Object({
        expires_after: Type.Optional(
          Type.Object({
            anchor: Type.Optional(Type.Literal('created_at')),
            seconds: Type.Optional(
              Type.Integer({ minimum: SECRET_SECONDS.min, maximum: SECRET_SECONDS.max, default: SECRET_SECONDS.usual }),
            ),
          }),
        ),
        session: Type.Optional(Type.Unsafe<object>({ type: 'object', description: 'As in `session.update`.' })),
      }),
      answers: {
        200: Type.Object({
          value: Type.String({ description: 'ek_…' }),
          expires_at: Type.Integer({ description: 'Seconds since 1970.' }),
          session: Type.Unsafe<object>({ type: 'object' }),
        }),
      },
    },
    async handle(call) {
      const { account, actor, body, idempotency } = call;
      const settings = settingsOf(body.session);
      const seconds = body.expires_after?.seconds ?? SECRET_SECONDS.usual;
      const expiresAt = Math.floor(api.clock.now() / 1000) + seconds;
      const value = `ek_${account.id.slice(account.id.indexOf('_') + 1)}_${randomBytes(32).toString('base64url')}`;
      const secret = {
        shard: account.shard,
        accountId: account.id,
        hash: hashKey(value),
        keyId: actor.key?.id ?? null,
      };
      return await api.db.transaction(async (tx) => {
        await insertClientSecret(tx, { ...secret, settings, expiresAt: new Date(expiresAt * 1000) });
        const session = showSettings(settings, { id: `sess_${value.slice(-20)}`, expiresAt });
        return await idempotency.saveAnswer(tx, {
          status: 200,
          body: { value, expires_at: expiresAt, session },
        } as const);
      });
    },
  });
}

function settingsOf(session: unknown): RealtimeSettings {
  try {
    return updateSettings(INITIAL_SETTINGS, session);
  } catch (cause) {
    if (!(cause instanceof SettingsError)) throw cause;
    throw new ApiError('invalid_request', cause.message, { param: cause.param, cause });
  }
}

/** @throws ApiError  401 or 403 */
async function callerOf(
  api: RealtimeApi,
  call: Pick<Call<unknown, unknown, unknown>, 'header' | 'note'>,
  offered: string[],
): Promise<AdmittedCaller> {
  const { header } = call;
  const given = offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
  const bearer = given === undefined ? header('authorization') : `Bearer ${given}`;
  const secret = /^bearer +(ek_\S+)$/i.exec(bearer ?? '')?.[1];
  if (secret !== undefined) return await callerOfSecret(api, secret);
  const caller = await keyCaller(api.callers, call, { authorization: bearer, 'x-api-key': header('x-api-key') });
  return { account: caller.account, keyId: caller.key.id, settings: INITIAL_SETTINGS };
}

async function callerOfSecret({ db }: RealtimeApi, secret: string): Promise<AdmittedCaller> {
  const accountId = `acct_${SECRET.exec(secret)?.[1] ?? ''}`;
  if (!isId('acct', accountId)) throw unknownSecret();
  const shard = shardOf(accountId);
  const used = await useClientSecret<RealtimeSettings>(db, { shard, accountId, hash: hashKey(secret) });
  if (used === null) throw unknownSecret();
  const account = await requireCurrentCaller(db, { shard, accountId, keyId: used.keyId }, 'jobs:write');
  return { account, keyId: used.keyId, settings: used.settings };
}

/** Clients of this API show no text of a refused handshake: they are told in an event. */
function refuse(socket: OpenSocket, { code, message }: Refusal): SocketUser {
  socket.send({
    event_id: 'event_refused',
    type: 'error',
    error: { type: 'invalid_request_error', code, message, param: null, event_id: null },
  });
  socket.close(code === 'unavailable' ? CLOSE.overloaded : CLOSE.refused, code);
  return { binary: () => undefined, text: () => undefined, closed: () => undefined };
}

function unknownSecret(): ApiError {
  return unauthenticated('This client secret is unknown, has expired or has begun all of its sessions.');
}
