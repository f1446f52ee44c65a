import { hashKey } from '../src/http/authentication.ts';
import type { IdempotencyKeys } from '../src/http/idempotency/idempotency.ts';
import { openIdempotencyKeys } from '../src/http/idempotency/idempotency.ts';
import type { Caller } from '../src/http/route.ts';
import { buildServer, closeServer } from '../src/http/server/server.ts';
import { systemClock } from '../src/platform/clock.ts';
import { openLog } from '../src/platform/log.ts';
import type { Lookup } from '../src/webhooks/dns/lookup.ts';
import { webhookRoutes } from '../src/webhooks/endpoints/routes.ts';
import { deliveryRoutes } from '../src/webhooks/log/routes.ts';
import { callerOf } from './caller.ts';
import { checkedRoutes } from './checked-routes.ts';
import { openDeliveryFixture, secretBox } from './delivery-fixture.ts';

/** The endpoints of webhooks and deliveries behind a real server and database, and a way to call them as an account. */
export async function openWebhookFixture({
  lookup = async () => ['93.184.216.34'],
  diesUnsettled = false,
  maxRecoveryBatches,
}: {
  lookup?: Lookup;
  /** As if the process died after the handler: nothing more is written of the Idempotency-Key. */
  diesUnsettled?: boolean;
  maxRecoveryBatches?: number;
} = {}) {
  const fixture = await openDeliveryFixture();
  const accounts = new Map<string, Caller>();
  const log = openLog('silent');
  const keys = openIdempotencyKeys({ db: fixture.db, box: secretBox, log });
  const idempotency: IdempotencyKeys = {
    ...keys,
    async take(request, account) {
      const ticket = await keys.take(request, account);
      return ticket && diesUnsettled ? { ...ticket, settle: async (answer) => answer } : ticket;
    },
  };
  const app = buildServer({
    routes: checkedRoutes([
      ...webhookRoutes({
        db: fixture.db,
        config: { webhookAllowedTargets: [], webhookRetryDelaysMs: [0, 1, 1, 1] },
        secretBox,
        clock: systemClock,
        lookup,
      }),
      ...deliveryRoutes({ db: fixture.db, ...(maxRecoveryBatches && { maxRecoveryBatches }) }),
    ]),
    auth: {
      findCaller: async (hash) => accounts.get(hash.toString('hex')) ?? null,
      adminToken: 'admin-token-of-test',
    },
    limits: { admit: async () => ({ kind: 'admitted', limit: 600, remaining: 599, resetSeconds: 60 }) },
    log,
    idempotency,
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });

  async function caller(plan: 'lite' | 'pro' = 'pro') {
    const { id, shard } = await fixture.account(plan);
    const key = `vb_${id.padEnd(43, 'x')}`;
    accounts.set(hashKey(key).toString('hex'), callerOf({ id, shard, name: 'test', plan, unlimited: true }));
    const call = async (
      method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
      url: string,
      body?: unknown,
      more: Record<string, string> = {},
    ) => {
      const headers = {
        ...more,
        'x-api-key': key,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      };
      const payload = body === undefined ? undefined : JSON.stringify(body);
      const answer = await app.inject({ method, url, headers, payload });
      return {
        status: answer.statusCode,
        json: answer.body === '' ? null : answer.json(),
        text: answer.body,
        headers: answer.headers,
      };
    };
    return { account: { id, shard }, call };
  }

  return {
    ...{ fixture, caller },
    async [Symbol.asyncDispose]() {
      await closeServer(app, 0);
      idempotency.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
}
