import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../fixtures/audio/wav.ts';
import { openService, type ServiceAccount } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const SECRET = 'a-secret-that-is-never-shown';
// Jobs stay queued, for no transcriber runs.
const SETTINGS = {
  ROLES: 'api,janitor',
  RATE_LIMIT_DEFAULT: 'off',
  ENGINE_API_KEY: SECRET,
  WEBHOOK_PROXY_URL: `http://user:${SECRET}@127.0.0.1:1`,
};

test('what operators read, and portal links, on a running service', async (t) => {
  await using service = await openService(SETTINGS);
  const [one, two] = [await service.account(), await service.account()];

  async function send(headers: Record<string, string>, method: string, route: string, body?: object) {
    const answer = await fetch(service.baseUrl + route, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    // biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
    return { status: answer.status, text, json: (text === '' ? null : JSON.parse(text)) as any };
  }
  const admin = (method: string, route: string, body?: object) =>
    send({ authorization: `Bearer ${service.adminToken}` }, method, route, body);
  const asKey = (key: string, method: string, route: string, body?: object) =>
    send({ 'x-api-key': key }, method, route, body);

  async function submit({ key }: ServiceAccount): Promise<string> {
    const form = new FormData();
    form.append('file', new Blob([Uint8Array.from(wavFile(1))]), 'confidential.wav');
    form.append('metadata', '{"confidential":1}');
    form.append('async', 'true');
    const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
      method: 'POST',
      headers: { 'x-api-key': key },
      body: form,
    });
    return ((await answer.json()) as { id: string }).id;
  }

  const jobs = [await submit(one), await submit(two), await submit(one)];
  const webhooks: string[] = [];
  for (const { key } of [one, two]) {
    const made = await asKey(key, 'POST', '/v1/webhooks', {
      url: 'https://hooks.example.com/x',
      events: ['transcription.completed'],
    });
    webhooks.push(made.json.id);
  }
  await asKey(two.key, 'PATCH', `/v1/webhooks/${webhooks[1]}`, { active: false });

  await t.test('a node that does not transcribe pulls no model', async () => {
    assert.equal((await admin('GET', '/admin/v1/models')).json.node.transcribes, false);
    const refused = await admin('POST', '/admin/v1/models/parakeet-110m/pull');
    assert.deepEqual([refused.status, refused.json.error.type], [409, 'conflict']);
    assert.match(refused.json.error.message, /does not transcribe/);
    assert.equal((await asKey(one.key, 'POST', '/admin/v1/models/parakeet-110m/pull')).status, 401);
    assert.equal((await asKey(one.key, 'DELETE', '/admin/v1/models/parakeet-110m/pull')).status, 401);
  });

  await t.test('only the operator reads them', async () => {
    const routes = ['overview', 'nodes', 'jobs', 'webhooks', 'models', 'settings'].map((name) => `/admin/v1/${name}`);
    const answers = await Promise.all(routes.map((route) => asKey(one.key, 'GET', route)));

    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [401]);
  });

  await t.test('the overview counts what waits', async () => {
    const { status, json } = await admin('GET', '/admin/v1/overview');

    assert.equal(status, 200);
    assert.deepEqual(
      [json.accounts, json.jobs.queued, json.jobs.processing, json.webhooks],
      [2, 3, 0, { active: 1, disabled: 1 }],
    );
    assert.ok(json.jobs.oldest_queued_seconds > 0);
  });

  await t.test('the node reports itself', async () => {
    const node = await until('the node', async () => (await admin('GET', '/admin/v1/nodes')).json.data[0]);

    assert.deepEqual([node.alive, node.ready, node.roles], [true, true, ['api', 'janitor']]);
    assert.match(node.version, /^\d+\.\d+\.\d+/);
  });

  await t.test('jobs of all accounts are listed page by page, without what the accounts sent', async () => {
    const first = (await admin('GET', '/admin/v1/jobs?limit=2')).json;
    const second = (await admin('GET', `/admin/v1/jobs?limit=2&cursor=${first.next_cursor}`)).json;
    const listed = [...first.data, ...second.data];
    const ofOne = (await admin('GET', `/admin/v1/jobs?account_id=${one.id}`)).json.data;
    const running = (await admin('GET', '/admin/v1/jobs?status=processing')).json.data;
    const unknown = (await admin('GET', '/admin/v1/jobs?account_id=acct_x')).json.data;

    assert.deepEqual(
      listed.map(({ id }) => id),
      jobs.toReversed(),
    );
    assert.equal(listed[1].account_id, two.id);
    assert.deepEqual(
      ofOne.map(({ id }: { id: string }) => id),
      [jobs[2], jobs[0]],
    );
    assert.deepEqual([running, unknown], [[], []]);
    assert.doesNotMatch(JSON.stringify(listed), /confidential/);
  });

  await t.test('disabled webhooks of all accounts are listed', async () => {
    const all = (await admin('GET', '/admin/v1/webhooks')).json.data;
    const disabled = (await admin('GET', '/admin/v1/webhooks?active=false')).json.data;
    const ofOne = (await admin('GET', `/admin/v1/webhooks?account_id=${one.id}`)).json.data;

    assert.deepEqual(
      all.map(({ id }: { id: string }) => id),
      webhooks.toReversed(),
    );
    assert.deepEqual(
      disabled.map((webhook: Record<string, unknown>) => [
        webhook['id'],
        webhook['account_id'],
        webhook['disabled_reason'],
      ]),
      [[webhooks[1], two.id, 'manual']],
    );
    assert.deepEqual(
      ofOne.map(({ id }: { id: string }) => id),
      [webhooks[0]],
    );
    assert.ok(all.every((webhook: object) => !('secret' in webhook)));
  });

  await t.test('the catalogue of models is listed', async () => {
    const { json } = await admin('GET', '/admin/v1/models');

    assert.ok(json.data.length > 3);
    assert.ok(
      json.data.every((model: { pulled: boolean; size_bytes: number }) => !model.pulled && model.size_bytes > 0),
    );
  });

  await t.test('settings are listed without secrets', async () => {
    const { json, text } = await admin('GET', '/admin/v1/settings');
    const find = (name: string) => json.data.find((setting: { name: string }) => setting.name === name);

    assert.ok(!text.includes(SECRET) && !text.includes(service.adminToken));
    assert.deepEqual(
      ['ENGINE_API_KEY', 'WEBHOOK_PROXY_URL', 'ADMIN_TOKEN', 'MAX_AUDIO_SECONDS', 'ROLES'].map((name) => {
        const { value, is_default: isDefault, is_secret: isSecret } = find(name);
        return [value, isDefault, isSecret];
      }),
      [
        ['(hidden)', false, true],
        ['(hidden)', false, true],
        [null, true, true],
        [14_400, true, false],
        [['api', 'janitor'], false, false],
      ],
    );
  });

  await t.test('a portal link carries a key with its scopes, until it expires or is deleted', async () => {
    const path = `/admin/v1/accounts/${one.id}/portal-links`;
    const made = await admin('POST', path, { scopes: ['jobs:read'], expires_in: 3_600 });
    const key = /^\/#token=(vb_\w+)$/.exec(made.json.url)?.[1] ?? '';
    const read = await asKey(key, 'GET', `/v1/jobs/${jobs[0]}`);
    const foreign = await asKey(key, 'GET', `/v1/jobs/${jobs[1]}`);
    const beyond = await asKey(key, 'GET', '/v1/webhooks');
    const deleted = await admin('DELETE', `/admin/v1/keys/${made.json.key_id}`);
    const after = await asKey(key, 'GET', `/v1/jobs/${jobs[0]}`);
    const audit = (await admin('GET', `/admin/v1/audit?account_id=${one.id}`)).text;

    assert.equal(made.status, 201);
    assert.deepEqual(made.json.scopes, ['jobs:read']);
    assert.ok(Math.abs(Date.parse(made.json.expires_at) - Date.now() - 3_600_000) < 60_000);
    assert.deepEqual([read.status, foreign.status, beyond.status], [200, 404, 403]);
    assert.deepEqual([deleted.status, after.status], [204, 401]);
    assert.ok(audit.includes('is_portal_link') && !audit.includes(key));
  });

  await t.test('a wrong portal link is refused', async () => {
    const path = `/admin/v1/accounts/${one.id}/portal-links`;
    const cases: [string, object, number, string | undefined][] = [
      [path, {}, 400, 'scopes'],
      [path, { scopes: [] }, 400, 'scopes'],
      [path, { scopes: ['x'] }, 400, 'scopes'],
      [path, { scopes: ['jobs:read'], expires_in: 59 }, 400, 'expires_in'],
      [path, { scopes: ['jobs:read'], expires_in: 604_801 }, 400, 'expires_in'],
      ['/admin/v1/accounts/acct_x/portal-links', { scopes: ['jobs:read'] }, 404, undefined],
    ];
    for (const [route, body, status, param] of cases) {
      const answer = await admin('POST', route, body);
      assert.deepEqual(
        [body, answer.status, answer.json.error.param?.split('.')[0]?.split('[')[0]],
        [body, status, param],
      );
    }
  });
});
