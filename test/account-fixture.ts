import { adminRoutes } from '../src/accounts/api/admin-routes.ts';
import { keyRoutes } from '../src/accounts/api/key-routes.ts';
import { accountRoutes } from '../src/accounts/api/routes.ts';
import { openCallers } from '../src/accounts/keys/callers.ts';
import { openLimits } from '../src/accounts/rate-limits/limits.ts';
import type { RateLimit } from '../src/config/values.ts';
import type { Database } from '../src/db/database.ts';
import type { Route } from '../src/http/route.ts';
import { buildServer } from '../src/http/server/server.ts';
import { openLog } from '../src/platform/log.ts';
import { checkedRoutes } from './checked-routes.ts';
import { openTestDatabase } from './database.ts';

const ADMIN_TOKEN = 'admin-token-of-the-test';
const ADMIN = { authorization: `Bearer ${ADMIN_TOKEN}` };
export const RATES = { lite: 1, pro: 2 };

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/** A node with the endpoints of accounts and keys, and others if given, on a database that it may share. */
export function openAccountNode(db: Database, balance: RateLimit = null, more: Route[] = []) {
  return buildServer({
    routes: checkedRoutes([
      ...[...accountRoutes({ db, rates: RATES }), ...keyRoutes({ db }), ...adminRoutes({ db, rates: RATES })],
      ...more,
    ]),
    auth: { findCaller: openCallers(db, openLog('silent')), adminToken: ADMIN_TOKEN },
    limits: openLimits(db, { transcribe: null, balance, jobs: null, resend: null, default: null }),
    log: openLog('silent'),
    metrics: { requestEnded: () => undefined, rateRefused: () => undefined },
  });
}

/** The endpoints of accounts and keys on a database of its own, with ways to ask as operator and as key. */
export async function openAccountFixture({
  balance = null,
  more = () => [],
}: {
  balance?: RateLimit;
  more?: (db: Database) => Route[];
} = {}) {
  const db = await openTestDatabase();
  const app = openAccountNode(db, balance, more(db));
  const send = async (headers: Record<string, string>, method: Method, url: string, payload?: object) => {
    const answer = await app.inject({ method, url, headers, ...(payload && { payload }) });
    return { status: answer.statusCode, body: answer.body === '' ? null : answer.json(), headers: answer.headers };
  };
  const ask = (method: Method, url: string, payload?: object) => send(ADMIN, method, url, payload);
  return {
    ...{ db, app, ask },
    /** As the holder of a key. */
    askAs: (key: string, method: Method, url: string, payload?: object) =>
      send({ 'x-api-key': key }, method, url, payload),
    /** An account with a key of these fields. */
    async account(credits?: number, fields: object = { name: 'first' }) {
      const made = await ask('POST', '/admin/v1/accounts', {
        name: 'one',
        plan: 'pro',
        ...(credits !== undefined && { credits }),
      });
      const key = await ask('POST', `/admin/v1/accounts/${made.body.id}/keys`, fields);
      return { id: made.body.id as string, key: key.body.key as string, keyId: key.body.id as string };
    },
    balance: (key: string, node = app) => node.inject({ url: '/v1/balance', headers: { 'x-api-key': key } }),
    async [Symbol.asyncDispose]() {
      await app.close();
      await db[Symbol.asyncDispose]();
    },
  };
}
