import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setupTokenOf } from '../../src/accounts/people/credentials/setup-token.ts';
import type { Route } from '../../src/http/route.ts';
import { type ApiRuntime, adminApiRoutes, apiRoutes } from '../../src/processes/roles/api-routes.ts';
import { openService } from '../fixtures/service.ts';

// Every route of the table, with the session of each role: a new route is tried too, and one without a scope has to be
// entered here.

const PASSWORD = 'correct horse battery';
const SECRETS_KEY = Buffer.alloc(32, 9).toString('base64');
const ROLES = ['owner', 'member', 'viewer', 'operator'] as const;
type Role = (typeof ROLES)[number];
type Browser = { id: string; cookie: string };
type Answer = { status: number; type: string | undefined };

/** Routes of sessions and of all scopes: who may call them. */
const BY_ROLE: Record<string, readonly Role[]> = {
  'GET /v1/me': ROLES,
  'PATCH /v1/me': ROLES,
  'POST /v1/me/account': ROLES,
  'POST /v1/me/invitations': ROLES,
  'GET /v1/users': ROLES,
  'PATCH /v1/users/:id': ['owner'],
  'DELETE /v1/users/:id': ['owner'],
  'GET /v1/invitations': ['owner'],
  'POST /v1/invitations': ['owner'],
  'DELETE /v1/invitations/:id': ['owner'],
  'GET /v1/session': ROLES,
  'GET /v1/account': ROLES,
  'GET /v1/models': ROLES,
  'GET /v1/models/:id': ROLES,
  'GET /v1/event-types': ROLES,
  // With the scope keys:write, and but for one's own key.
  'DELETE /v1/keys/:id': ['owner', 'member'],
};
/** Of routes that look at the role after they have checked the body. */
const BODIES: Record<string, object> = {
  'POST /v1/keys': { scopes: ['jobs:read'] },
  'PATCH /v1/users/:id': { role: 'member' },
  'POST /v1/invitations': { role: 'viewer' },
};
/** What every session may do, and what ends or replaces it. */
const LEFT_OUT = ['POST /v1/session', 'DELETE /v1/session'];
/** Without a key or a session: how somebody signs in, and what a token in the request is for. */
const OPEN = [
  ...[
    'GET /v1/sign-in',
    'POST /v1/sign-in',
    'POST /v1/setup',
    'POST /v1/sign-in/oidc',
    'GET /v1/sign-in/oidc/callback',
  ],
  ...['POST /v1/invitations/open', 'POST /v1/invitations/accept'],
  ...['GET /v1/audio-links/:link', 'GET /v1/live/:id', 'GET /v1/realtime', 'GET /v1/shared/:token'],
];

const runtime = { config: {} } as ApiRuntime;
const routes = [...apiRoutes(runtime), ...adminApiRoutes(runtime)];
const nameOf = ({ method, path }: Route) => `${method} ${path}`;

const service = await openService({
  ROLES: 'api',
  SECRETS_KEY,
  RATE_LIMIT_DEFAULT: 'off',
  RATE_LIMIT_TRANSCRIBE: 'off',
});
after(() => service[Symbol.asyncDispose]());
const browsers = await openTeam();

/** A user of each role; the operator is a viewer. */
async function openTeam(): Promise<Record<Role, Browser>> {
  const first = { name: 'Olga', email: 'first@example.com', password: PASSWORD };
  const founder = await begin('/v1/setup', { token: setupTokenOf(SECRETS_KEY), ...first });
  const account = await send('GET', '/v1/session', { cookie: founder.cookie });
  const { account_id: accountId } = (await account.json()) as { account_id: string };
  const admin = { authorization: `Bearer ${service.adminToken}` };
  const join = async (role: string, email: string, operator = false) => {
    const url = `/admin/v1/accounts/${accountId}/invitations`;
    const made = (await (await send('POST', url, admin, { role, operator })).json()) as { url: string };
    const token = made.url.slice('/#invitation='.length);
    return await begin('/v1/invitations/accept', { token, email, name: email, password: PASSWORD });
  };
  return {
    owner: await join('owner', 'owner@example.com'),
    member: await join('member', 'member@example.com'),
    viewer: await join('viewer', 'viewer@example.com'),
    operator: await join('viewer', 'operator@example.com', true),
  };
}

async function begin(path: string, body: object): Promise<Browser> {
  const answer = await send('POST', path, {}, body);
  assert.equal(answer.status, 201, path);
  const { id } = (await answer.json()) as { id: string };
  return { id, cookie: answer.headers.get('set-cookie')!.split(';')[0]! };
}

function send(method: string, path: string, headers: Record<string, string>, body?: object): Promise<Response> {
  const json = { 'content-type': 'application/json', ...headers };
  return fetch(service.baseUrl + path, {
    method,
    headers: body ? json : headers,
    redirect: 'manual',
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Calls a route with ids that nothing has, so that whoever is let in changes nothing. */
async function call(route: Route, headers: Record<string, string>): Promise<Answer> {
  const answer = await send(route.method, route.path.replace(/:\w+/g, 'x'), headers, BODIES[nameOf(route)]);
  const text = answer.headers.get('content-type')?.startsWith('application/json') ? await answer.text() : '{}';
  await answer.body?.cancel().catch(() => undefined);
  return { status: answer.status, type: JSON.parse(text || '{}').error?.type };
}

function isLetIn({ status, type }: Answer): boolean {
  return status !== 401 && !['missing_scope', 'missing_role'].includes(type ?? '');
}

/** Who may call a route, by its scope or the table above. */
function expectedOf(route: Route): readonly Role[] {
  if (route.auth === 'admin') return ['operator'];
  const own = BY_ROLE[nameOf(route)];
  if (own || route.auth !== 'key' || route.scope === 'any') return own ?? assert.fail(`enter ${nameOf(route)}`);
  const scopes = [route.scope].flat();
  return scopes.some((scope) => scope.endsWith(':read')) ? ROLES : ['owner', 'member'];
}

test('the routes that need neither a key nor a session are these', () => {
  assert.deepEqual(
    routes
      .filter(({ auth }) => auth === 'none')
      .map(nameOf)
      .toSorted(),
    OPEN.toSorted(),
  );
});

for (const route of routes.filter((each) => each.auth !== 'none' && !LEFT_OUT.includes(nameOf(each)))) {
  test(`${nameOf(route)} is for ${expectedOf(route).join(', ')}`, async () => {
    const found: Role[] = [];
    for (const role of ROLES) {
      const { id, cookie } = browsers[role];
      const headers = { cookie, 'x-session-id': id, 'sec-fetch-site': 'same-origin' };
      if (isLetIn(await call(route, headers))) found.push(role);
    }

    assert.deepEqual(found, expectedOf(route));
  });
}

/** What pages of others can send with the cookie. */
const FORGED: Record<string, string>[] = [
  {},
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain' },
  { origin: 'http://localhost:1', 'content-type': 'multipart/form-data; boundary=x' },
  { origin: 'null', 'content-type': 'application/x-www-form-urlencoded' },
];

for (const route of routes.filter(({ auth, method }) => auth !== 'none' && method !== 'GET')) {
  test(`${nameOf(route)} refuses the cookie of an owner and operator on a page of somebody else`, async () => {
    const role = route.auth === 'admin' ? 'operator' : 'owner';
    const { id, cookie } = browsers[role];
    const answers: Answer[] = [await call(route, { cookie, 'sec-fetch-site': 'same-origin' })];
    for (const headers of FORGED) answers.push(await call(route, { cookie, 'x-session-id': id, ...headers }));

    assert.deepEqual(
      answers.map(({ status }) => status),
      Array(FORGED.length + 1).fill(401),
    );
  });
}

for (const path of ['/v1/live/job_01kamz2f3q8r5t7v9wxyzabcde', '/v1/realtime?intent=transcription']) {
  test(`no page opens the WebSocket ${path} by a cookie`, async () => {
    const { cookie, id } = browsers.owner;
    const { default: WebSocket } = await import('ws');
    const socket = new WebSocket(service.baseUrl.replace('http', 'ws') + path, {
      headers: { cookie, 'x-session-id': id, 'sec-fetch-site': 'same-origin', origin: service.baseUrl },
    });

    socket.on('error', () => undefined);
    const status = await new Promise((resolve) => {
      socket.once('unexpected-response', (_request, answer) => resolve(answer.statusCode));
      socket.once('open', () => resolve(101));
    });

    assert.equal(status, 401);
    socket.terminate();
  });
}
