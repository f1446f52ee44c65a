import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { SCOPES } from '../../src/rules/accounts/scopes.ts';
import { openService } from '../fixtures/service.ts';

type Operation = { security: { ApiKey?: string[] }[]; description?: string };
type Answer = { key?: string; error?: { type: string }; required_scope?: string };
/** `scopes`: a key needs one of them. */
type Endpoint = { method: string; path: string; scopes: string[] };

/** The endpoints for keys as /openapi.json describes them. */
async function endpointsOf(baseUrl: string): Promise<Endpoint[]> {
  const answer = await fetch(`${baseUrl}/openapi.json`);
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations)
      .filter(([, { security }]) => security.some(({ ApiKey }) => ApiKey))
      .map(([method, { security }]) => ({
        method: method.toUpperCase(),
        path,
        scopes: [...new Set(security.flatMap(({ ApiKey }) => ApiKey ?? []))],
      })),
  );
}

const service = await openService({ ROLES: 'api', RATE_LIMIT_DEFAULT: 'off', RATE_LIMIT_TRANSCRIBE: 'off' });
after(() => service[Symbol.asyncDispose]());

test('every endpoint refuses a key that lacks its scope, and names it', async () => {
  const { key } = await service.account();
  const ask = async (apiKey: string, method: string, path: string, body?: object) => {
    const headers = { 'x-api-key': apiKey, ...(body && { 'content-type': 'application/json' }) };
    const answer = await fetch(service.baseUrl + path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Answer };
  };
  const keys = new Map<string, string>();
  /** A key with all other scopes. */
  const keyWithout = async (lacking: string[]) => {
    const scopes = SCOPES.filter((scope) => !lacking.includes(scope));
    const made = keys.get(scopes.join()) ?? (await ask(key, 'POST', '/v1/keys', { scopes })).body.key!;
    keys.set(scopes.join(), made);
    return made;
  };

  const endpoints = await endpointsOf(service.baseUrl);
  const answers = [];
  for (const { method, path, scopes } of endpoints.filter((endpoint) => endpoint.scopes.length > 0)) {
    const answer = await ask(await keyWithout(scopes), method, path.replace(/\{\w+\}/g, 'x'));
    answers.push({ method, path, scope: scopes[0], ...answer });
  }

  assert.ok(answers.length >= 20, `only ${answers.length} endpoints have a scope`);
  assert.deepEqual(
    endpoints.filter(({ scopes }) => scopes.length === 0).map(({ method, path }) => `${method} ${path}`),
    [
      ...['GET /v1/models', 'GET /v1/models/{id}', 'GET /v1/account', 'DELETE /v1/keys/{id}', 'POST /v1/session'],
      'GET /v1/event-types',
    ],
  );
  for (const { method, path, scope, status, body } of answers) {
    assert.deepEqual(
      [status, body.error?.type, body.required_scope],
      [403, 'missing_scope', scope],
      `${method} ${path}`,
    );
    const isRead = method === 'GET' || path === '/v1/jobs/{id}/audio-link';
    assert.equal(scope!.endsWith(':read'), isRead && scope !== 'keys:write', `${method} ${path}`);
  }
});

test('an Idempotency-Key shows the key that it created to its creator only, not to a key of fewer scopes', async () => {
  const { key } = await service.account();
  const makeKey = async (apiKey: string, body: object, idempotencyKey: string) => {
    const headers = { 'x-api-key': apiKey, 'idempotency-key': idempotencyKey, 'content-type': 'application/json' };
    const answer = await fetch(`${service.baseUrl}/v1/keys`, { method: 'POST', headers, body: JSON.stringify(body) });
    return { status: answer.status, ...((await answer.json()) as Answer) };
  };
  const limited = await makeKey(key, { scopes: ['keys:write'] }, 'limited');

  const first = await makeKey(key, { name: 'ci' }, 'k');
  const again = await makeKey(key, { name: 'ci' }, 'k');
  const other = await makeKey(limited.key!, { name: 'ci' }, 'k');

  assert.deepEqual([again.status, again.key], [201, first.key]);
  assert.deepEqual([other.status, other.error?.type, other.key], [409, 'conflict', undefined]);
});
