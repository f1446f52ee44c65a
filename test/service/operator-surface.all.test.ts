import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import test, { after } from 'node:test';
import { freePort } from '../../src/demo/service.ts';
import { openService, serviceProgram, temporaryFolder } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';

const adminPort = await freePort();
const service = await openService({ ROLES: 'api', ADMIN_HOST: '127.0.0.2', ADMIN_PORT: String(adminPort) });
const together = await openService({ ROLES: 'api' });
after(() => Promise.all([service, together].map((each) => each[Symbol.asyncDispose]())));

test('ADMIN_PORT moves /admin and /metrics to a listener of their own', async () => {
  const admin = `http://127.0.0.2:${adminPort}`;
  const headers = { authorization: `Bearer ${service.adminToken}` };
  const status = async (url: string) => (await fetch(url, { headers })).status;
  const documented = async (url: string) =>
    Object.keys(((await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }).paths);

  const paths = ['/admin/v1/accounts', '/metrics', '/v1/balance', '/healthz', '/readyz', '/'];
  const onMain = await Promise.all(paths.map((route) => status(service.baseUrl + route)));
  const onAdmin = await Promise.all(paths.map((route) => status(admin + route)));
  const ways = await Promise.all(
    [service.baseUrl, admin].map(async (url) => (await fetch(`${url}/v1/sign-in`)).json()),
  );
  const [mainPaths, adminPaths] = [await documented(service.baseUrl), await documented(admin)];

  assert.deepEqual(onMain, [404, 404, 401, 200, 200, 200]);
  assert.deepEqual(onAdmin, [200, 200, 404, 200, 200, 200]);
  assert.deepEqual(ways, [
    { setup: true, password: true, oidc: null },
    { setup: false, password: false, oidc: null },
  ]);
  assert.ok(mainPaths.includes('/v1/balance') && !mainPaths.some((route) => /^\/(admin|metrics)/.test(route)));
  assert.ok(adminPaths.includes('/admin/v1/accounts') && !adminPaths.includes('/v1/balance'));
});

test('a path is matched after it is decoded: /%61dmin is /admin, on the listener for operators only', async () => {
  const spellings = ['/%61dmin/v1/accounts', '/admin/%76%31/accounts', '/ad%6Din/v1/account%73', '/%6detrics'];
  const others = [
    '/admin%2Fv1%2Faccounts',
    '/%2561dmin/v1/accounts',
    '//admin/v1/accounts',
    '/v1/../admin/v1/accounts',
  ];
  // fetch would resolve the dots.
  const statusOf = async (host: string, port: number, route: string, token: string) => {
    const headers = token === '' ? {} : { authorization: `Bearer ${token}` };
    const request = http.get({ host, port, path: route, headers, agent: false });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    answer.resume();
    return answer.statusCode!;
  };
  const statuses = (host: string, port: number, routes: string[], token: string) =>
    Promise.all(routes.map((route) => statusOf(host, port, route, token)));
  const portOf = ({ baseUrl }: { baseUrl: string }) => Number(new URL(baseUrl).port);

  const onMain = await statuses('127.0.0.1', portOf(service), [...spellings, ...others], service.adminToken);
  const onAdmin = await statuses('127.0.0.2', adminPort, spellings, service.adminToken);
  const withToken = await statuses('127.0.0.1', portOf(together), spellings, together.adminToken);
  const withoutToken = await statuses('127.0.0.1', portOf(together), spellings.slice(0, 3), '');
  const elsewhere = await statuses('127.0.0.1', portOf(together), others, together.adminToken);

  assert.deepEqual(onMain, Array(8).fill(404));
  assert.deepEqual([onAdmin, withToken], [Array(4).fill(200), Array(4).fill(200)]);
  assert.deepEqual(withoutToken, Array(3).fill(401));
  assert.deepEqual(elsewhere, Array(4).fill(404));
});

test('after ten wrong admin tokens those of an address are refused, and the right one is not', async () => {
  const ask = async (token: string, localAddress: string) => {
    const headers = { authorization: `Bearer ${token}` };
    const request = http.get(`${together.baseUrl}/admin/v1/accounts`, { headers, localAddress });
    const [answer] = (await once(request, 'response')) as [http.IncomingMessage];
    const body = JSON.parse(Buffer.concat(await answer.toArray()).toString());
    return { status: answer.statusCode, retryAfter: answer.headers['retry-after'], body };
  };

  const wrong = [];
  for (let i = 0; i < 12; i++) wrong.push(await ask(`wrong-token-number-${i}`, '127.0.0.1'));
  const rightThere = await ask(together.adminToken, '127.0.0.1');
  const elsewhere = await ask('wrong-token', '127.0.0.2');

  const { status, retryAfter, body } = wrong.at(-1)!;
  assert.deepEqual(
    wrong.map((answer) => answer.status),
    [...Array.from({ length: 10 }, () => 401), 429, 429],
  );
  assert.deepEqual([body.error.code, body.error.type, status], [429, 'rate_limited', 429]);
  assert.ok(body.retry_after >= 1 && body.retry_after <= 60);
  assert.equal(retryAfter, String(body.retry_after));
  assert.deepEqual([rightThere.status, elsewhere.status], [200, 401]);
});

test('/readyz does not tell strangers where a speech server is, the log and the admin API tell operators', async () => {
  const [port, dead, dataDir] = [await freePort(), await freePort(), temporaryFolder()];
  const engine = `openai:http://127.0.0.1:${dead}/v1#m`;
  const env = { ROLES: 'transcriber', DATA_DIR: dataDir, PORT: String(port), ENGINE_LITE: engine, ENGINE_PRO: engine };
  const child = spawn(process.execPath, [serviceProgram()], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...process.env, ...env },
  });
  let log = '';
  child.stdout!.on('data', (chunk) => (log += chunk));
  const url = `http://127.0.0.1:${port}`;

  const shown = await until('the reason', async () => {
    const text = await fetch(`${url}/readyz`).then((answer) => answer.text(), String);
    return text.includes('speech server') ? text : null;
  });
  const authorization = `Bearer ${readFileSync(path.join(dataDir, 'admin-token'), 'utf8').trim()}`;
  const details = await (await fetch(`${url}/admin/v1/readiness`, { headers: { authorization } })).text();
  const ended = once(child, 'exit');
  child.disconnect();
  await ended;
  rmSync(dataDir, { recursive: true, force: true });

  assert.doesNotMatch(shown, new RegExp(`127\\.0\\.0\\.1|${dead}|localhost|http://`));
  assert.match(details, new RegExp(`http://127\\.0\\.0\\.1:${dead}`));
  assert.match(log, new RegExp(`http://127\\.0\\.0\\.1:${dead}`));
});
