import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { wavFile } from '../fixtures/audio/wav.ts';
import { openService } from '../fixtures/service.ts';

type Parameter = { name: string; in: string };
type Document = { paths: Record<string, Record<string, { parameters?: Parameter[] }>> };
type Page = { data: { id: string }[]; next_cursor: string | null };

// Jobs stay queued, for no transcriber runs.
const SETTINGS = { ROLES: 'api', RATE_LIMIT_DEFAULT: 'off', RATE_LIMIT_TRANSCRIBE: 'off', RATE_LIMIT_JOBS: 'off' };
// Lists whose parameters are required, or that are another list with a filter.
const REQUIRED: Record<string, string> = { '/v1/search': '&q=word' };
// Lists for users.
const FOR_USERS = ['/v1/users', '/v1/invitations'];
const FILTERED = [
  ['/v1/jobs', '&status=queued'],
  ['/v1/jobs', '&query=a.wav'],
  ['/v1/jobs', '&metadata[a]=1&metadata[b]=2'],
  ['/v1/jobs', '&metadata[a]=1&metadata[b]=3'],
  ['/v1/search', '&q=another'],
  ['/v1/deliveries', '&status=pending'],
  ['/v1/events', '&type=webhook.test'],
  ['/admin/v1/audit', '&action=account.created'],
] as const;

const service = await openService(SETTINGS);
after(() => service[Symbol.asyncDispose]());

test('a cursor of every list is refused by every other list, by other filters and by another account', async (t) => {
  const owners = [await service.account(), await service.account()];
  const admin = { authorization: `Bearer ${service.adminToken}` };

  async function send(headers: Record<string, string>, path: string, body?: object | FormData) {
    const isJson = body !== undefined && !(body instanceof FormData);
    const answer = await fetch(service.baseUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, ...(isJson && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as FormData) }),
    });
    return { status: answer.status, json: (await answer.json()) as Page & { id: string; error: { param: string } } };
  }

  const webhooks: string[] = [];
  const cookies: string[] = [];
  for (const { id, key } of owners) {
    const invitations = `/admin/v1/accounts/${id}/invitations`;
    const { url: link } = (await send(admin, invitations, { role: 'owner' })).json as unknown as { url: string };
    cookies.push(await accept(service.baseUrl, link, `${id}@example.com`));
    for (let i = 0; i < 2; i++) await send(admin, invitations, { role: 'viewer' });
    const caller = { 'x-api-key': key };
    const url = { url: 'https://hooks.example.com/x', events: ['transcription.completed'] };
    const made = [await send(caller, '/v1/webhooks', url), await send(caller, '/v1/webhooks', url)];
    webhooks.push(made[0]!.json.id);
    for (let i = 0; i < 2; i++) {
      const form = new FormData();
      form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'a.wav');
      form.append('metadata', '{"a":1,"b":2}');
      form.append('async', 'true');
      await send(caller, '/v1/transcribe', form);
      await send(caller, `/v1/webhooks/${webhooks.at(-1)}/test`, {});
      await send(admin, `/admin/v1/accounts/${id}/keys`, { name: `key ${i}` });
    }
  }

  const { paths } = (await (await fetch(`${service.baseUrl}/openapi.json`)).json()) as Document;
  const lists = Object.entries(paths)
    .filter(([, { get }]) => get?.parameters?.some(({ name }) => name === 'cursor'))
    .map(([path]) => [path, REQUIRED[path] ?? ''] as const);
  const asked = [...lists, ...FILTERED].flatMap(([path, filter]) =>
    owners.flatMap(({ id, key }, i) => {
      const isAdmin = path.startsWith('/admin/');
      if (isAdmin && i > 0 && !path.includes('{id}')) return [];
      const headers: Record<string, string> = FOR_USERS.includes(path) ? { cookie: cookies[i]! } : { 'x-api-key': key };
      const own = path.replace('{id}', isAdmin ? id : webhooks[i]!);
      return [
        {
          name: `${own}?${filter} of ${i}`,
          url: `${own}?limit=1${filter}`,
          headers: isAdmin ? admin : headers,
        },
      ];
    }),
  );
  const cursors = new Map<string, string>();
  for (const { name, url, headers } of asked) {
    const { status, json } = await send(headers, url);
    assert.equal(status, 200, `${name}: ${JSON.stringify(json)}`);
    if (json.next_cursor !== null) cursors.set(name, json.next_cursor);
  }
  t.diagnostic(`${lists.length} lists, ${asked.length} queries, ${cursors.size} cursors`);
  assert.ok(cursors.size >= 20, [...cursors.keys()].join('\n'));

  const wrong: string[] = [];
  for (const { name, url, headers } of asked) {
    for (const [from, cursor] of cursors) {
      const { status, json } = await send(headers, `${url}&cursor=${cursor}`);
      const isRight = from === name ? status === 200 : status === 400 && json.error.param === 'cursor';
      if (!isRight) wrong.push(`${name} with a cursor of ${from}: ${status}`);
    }
  }
  assert.deepEqual(wrong, []);
});

/** Makes a user by the link of an invitation. The cookie of the user's session. */
async function accept(baseUrl: string, link: string, email: string): Promise<string> {
  const token = new URL(link, baseUrl).hash.replace('#invitation=', '');
  const answer = await fetch(`${baseUrl}/v1/invitations/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, email, password: 'a password of enough characters', name: 'Ada' }),
  });
  return answer.headers.get('set-cookie')!.split(';')[0]!;
}

test('a cursor goes on with another limit, and with the filters in another order', async () => {
  const { key } = await service.account();
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) {
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'a.wav');
    form.append('metadata', '{"a":1,"b":2}');
    form.append('async', 'true');
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: form,
    });
    ids.unshift(((await answer.json()) as { id: string }).id);
  }
  const read = async (query: string) =>
    (await (await fetch(`${service.baseUrl}/v1/jobs?${query}`, { headers: { 'x-api-key': key } })).json()) as Page;

  const first = await read('limit=1&status=queued&metadata[a]=1&metadata[b]=2');
  const rest = await read(`cursor=${first.next_cursor}&metadata[b]=2&metadata[a]=1&status=queued`);

  assert.deepEqual(
    [...first.data, ...rest.data].map(({ id }) => id),
    ids,
  );
});
