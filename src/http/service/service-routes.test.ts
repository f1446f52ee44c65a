import assert from 'node:assert/strict';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { adminRoutes } from '../../accounts/api/admin-routes.ts';
import { accountRoutes } from '../../accounts/api/routes.ts';
import type { Database } from '../../db/database.ts';
import { openLog } from '../../platform/log.ts';
import { httpMetrics, mergeMetrics, openMetrics, snapshotMetrics } from '../../platform/metrics.ts';
import { ERROR_STATUS } from '../api-error.ts';
import { describeApi } from '../openapi/openapi.ts';
import { defineRoute, type Route } from '../route.ts';
import { Type } from '../schema.ts';
import { buildServer } from '../server/server.ts';
import { operatorRoutes, serviceRoutes } from './service-routes.ts';

type Content = Record<string, { schema: { additionalProperties: boolean; required: string[] } }>;
type Operation = {
  operationId: string;
  summary: string;
  tags: string[];
  parameters: { name: string; in: string; required: boolean; schema: { default?: unknown } }[];
  requestBody?: { content: Content };
  responses: Record<string, object>;
};
type Paths = Record<string, Record<string, Operation>>;

const runtime = runtimeOn({} as Database, { callers: { forgetAll: () => undefined } });
const apiRoutes: Route[] = [...accountRoutes(runtime), ...adminRoutes(runtime)];

const upload = defineRoute({
  method: 'POST',
  path: '/v1/transcribe',
  auth: 'key',
  scope: 'jobs:write',
  upload: true,
  summary: 'Transcribe <a file> & more',
  tag: 'Jobs',
  schema: {
    body: Type.Object({ file: Type.String(), plan: Type.Optional(Type.String()) }),
    answers: { 204: null },
  },
  handle: async () => ({ status: 204 }),
});

function openNode(readiness: { ready: boolean; reasons: string[] }) {
  const metrics = openMetrics();
  const check = async () => ({ ...readiness, details: ['no answer from http://10.0.0.9'] });
  const metricsText = async () => mergeMetrics([await snapshotMetrics(metrics)]);
  const operator = operatorRoutes({ check }, metricsText);
  const app = buildServer({
    routes: [
      ...operator,
      ...serviceRoutes({
        readiness: { check },
        documented: [...apiRoutes, upload, ...operator],
        version: '1.2.3',
      }),
    ],
    auth: { findCaller: async () => null, adminToken: 'x' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: httpMetrics(metrics),
  });
  return { app, metrics, [Symbol.asyncDispose]: () => app.close() };
}

test('a node without the api role answers health, readiness and metrics, and 404 for the rest', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const statuses = await Promise.all(
    ['/healthz', '/readyz', '/metrics', '/v1/balance'].map((url) => node.app.inject({ url })),
  );

  assert.deepEqual(
    statuses.map((answer) => answer.statusCode),
    [200, 200, 200, 404],
  );
});

test('a node that is not ready answers 503 with the reasons and the error body', async () => {
  await using node = openNode({ ready: false, reasons: ['No engine: run verbatim models pull parakeet.'] });

  const answer = await node.app.inject({ url: '/readyz' });

  assert.equal(answer.statusCode, 503);
  assert.deepEqual(answer.json().reasons, ['No engine: run verbatim models pull parakeet.']);
  assert.doesNotMatch(answer.body, /10\.0\.0\.9/);
  assert.deepEqual([answer.json().error.code, answer.json().error.type], [503, 'unavailable']);
  assert.equal(answer.headers['retry-after'], '2');
});

test('only the operator gets the details of readiness', async () => {
  await using node = openNode({ ready: false, reasons: ['The speech server does not answer.'] });
  const url = '/admin/v1/readiness';

  const unauthenticated = await node.app.inject({ url });
  const operator = await node.app.inject({ url, headers: { authorization: 'Bearer x' } });

  assert.equal(unauthenticated.statusCode, 401);
  assert.deepEqual(operator.json(), {
    ready: false,
    reasons: ['The speech server does not answer.'],
    details: ['no answer from http://10.0.0.9'],
  });
});

test('the metrics count requests by route and status', async () => {
  await using node = openNode({ ready: true, reasons: [] });
  await node.app.inject({ url: '/healthz' });
  await node.app.inject({ url: '/no/such/path' });

  const { body, headers } = await node.app.inject({ url: '/metrics' });

  assert.match(String(headers['content-type']), /^text\/plain; version=0.0.4/);
  assert.match(body, /verbatim_requests_total\{route="\/healthz",method="GET",status="200"\} 1/);
  assert.match(body, /verbatim_requests_total\{route="unknown",method="GET",status="404"\} 1/);
});

test('the metrics of several processes are added; of ages the greatest counts', async () => {
  const [one, two] = [openMetrics(), openMetrics()];
  one.jobs.inc({ outcome: 'completed', error_type: '', plan: 'pro' }, 2);
  two.jobs.inc({ outcome: 'completed', error_type: '', plan: 'pro' }, 3);
  one.deliveriesOldestDueSeconds.set(4);
  two.deliveriesOldestDueSeconds.set(9);

  const snapshots = await Promise.all([one, two].map(snapshotMetrics));
  const { text } = await mergeMetrics(structuredClone(snapshots));

  assert.match(text, /verbatim_jobs_total\{outcome="completed",error_type="",plan="pro"\} 5/);
  assert.match(text, /verbatim_deliveries_oldest_due_age_seconds 9/);
});

test('/openapi.json describes every route once, with resolvable references and unique ids', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const document = (await node.app.inject({ url: '/openapi.json' })).json();

  assert.equal(document.openapi, '3.1.0');
  assert.deepEqual(document.info.version, '1.2.3');
  const operations = Object.entries(document.paths as Paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  const described = operations.map(
    ({ method, path }) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
  );
  const served = [...apiRoutes, upload].map((route) => `${route.method} ${route.path}`);
  assert.deepEqual(
    described.sort(),
    [...served, 'GET /healthz', 'GET /readyz', 'GET /metrics', 'GET /admin/v1/readiness'].sort(),
  );
  assert.equal(new Set(operations.map(({ operation }) => operation.operationId)).size, operations.length);
  for (const { path, operation } of operations) {
    assert.ok(operation.summary && operation.tags[0] && operation.responses['500']);
    const inPath = operation.parameters
      .filter((parameter) => parameter.in === 'path')
      .map((parameter) => parameter.name);
    assert.deepEqual(
      inPath,
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name),
    );
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
    ([, name]) => name,
  );
  assert.ok(references.every((name) => name! in document.components.schemas));
});

test('the document matches the validation: no unknown fields, fields with defaults optional, uploads multipart', () => {
  const document = describeApi([...apiRoutes, upload], { version: '1' }) as { paths: Paths };

  const create = document.paths['/admin/v1/accounts']!['post']!.requestBody!;
  const [limit] = document.paths['/admin/v1/accounts']!['get']!.parameters;
  assert.equal(create.content['application/json']!.schema.additionalProperties, false);
  assert.deepEqual(create.content['application/json']!.schema.required, ['name', 'plan']);
  assert.deepEqual([limit!.name, limit!.required, limit!.schema.default], ['limit', false, 20]);
  assert.deepEqual(Object.keys(document.paths['/v1/transcribe']!['post']!.requestBody!.content), [
    'multipart/form-data',
  ]);
});

test('/docs is the API reference, also at /docs/api', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const [reference, page] = await Promise.all(['/docs', '/docs/api'].map((url) => node.app.inject({ url })));

  assert.equal(reference!.statusCode, 200);
  assert.match(reference!.body, /<h1>API reference<\/h1>\n<div id="reference">/);
  assert.equal(reference!.body, page!.body);
});

test('/docs loads no scripts or styles from other hosts, and its policy has no exceptions', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const { body, headers } = await node.app.inject({ url: '/docs' });
  const urls = [...body.matchAll(/(?:src|<link[^>]* href)="(\/[^"]+)"/g)].map(([, url]) => url!);
  const files = await Promise.all(urls.map((url) => node.app.inject({ url })));
  const unknown = await node.app.inject({ url: '/docs/package.json' });

  assert.match(String(headers['content-type']), /^text\/html/);
  assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*|https?:/);
  assert.doesNotMatch(body, /<style|style=|\son\w+=|https?:\/\/|<script(?![^>]* src=")/);
  assert.equal(files.length, 6);
  assert.ok(files.every(({ statusCode, body: text }) => statusCode === 200 && text.length > 100));
  assert.equal(unknown.statusCode, 404);
});

test('the page of errors has a section for each, at which the docs of an answer point', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const { error } = (await node.app.inject({ url: '/v1/nothing' })).json() as { error: { type: string; docs: string } };
  const [path, id] = error.docs.split('#') as [string, string];
  const { body, headers } = await node.app.inject({ url: path });
  const ids = [...body.matchAll(/<h2 id="([a-z_]+)">/g)].map(([, type]) => type);

  assert.deepEqual([error.type, id], ['not_found', 'not_found']);
  assert.match(String(headers['content-type']), /^text\/html/);
  assert.doesNotMatch(String(headers['content-security-policy']), /unsafe|\*|https?:/);
  assert.deepEqual(ids, Object.keys(ERROR_STATUS));
});

test('/llms.txt lists the pages, and each of its links leads to one', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const { body, headers } = await node.app.inject({ url: '/llms.txt' });
  const links = [...body.matchAll(/^- \[[^\]]+\]\((\/[^)]+)\): .+$/gm)].map(([, url]) => url!);
  const pages = await Promise.all(links.map((url) => node.app.inject({ url })));

  assert.match(String(headers['content-type']), /^text\/plain/);
  assert.ok(links.includes('/docs/jobs.md') && links.includes('/docs/errors.md') && links.length > 15);
  assert.deepEqual(
    pages.filter(({ statusCode, body: text }) => statusCode !== 200 || text.length < 100),
    [],
  );
});

test('the reference as Markdown has every operation, with its examples', async () => {
  await using node = openNode({ ready: true, reasons: [] });

  const { body, headers } = await node.app.inject({ url: '/docs/api.md' });
  const document = (await node.app.inject({ url: '/openapi.json' })).json() as { paths: Paths };
  const titles = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `### ${method.toUpperCase()} ${path}`),
  );

  assert.match(String(headers['content-type']), /^text\/markdown/);
  assert.deepEqual(body.match(/^### .*/gm)!.toSorted(), titles.toSorted());
  assert.equal(body.match(/^```sh$/gm)!.length, titles.length);
  assert.doesNotMatch(body, /undefined|\[object/);
});

test('the pages of the documentation and their images are served, and no other files', async () => {
  await using node = openNode({ ready: true, reasons: [] });
  const read = async (url: string) => {
    const { statusCode, headers } = await node.app.inject({ url });
    return `${statusCode} ${headers['content-type']}`;
  };

  for (const url of ['/docs/', '/docs/jobs', '/docs/security', '/docs/decisions/0001-postgresql-everywhere']) {
    assert.equal(await read(url), '200 text/html; charset=utf-8', url);
  }
  assert.equal(await read('/docs/images/job-1440-light.webp'), '200 image/webp');
  assert.equal(await read('/docs/search.json'), '200 application/json; charset=utf-8');
  for (const name of [
    ...['none.md', '..%2FREADME.md', '%2e%2e%2fCHANGELOG.md', 'decisions%2F0001-postgresql-everywhere.md'],
    ...['none', '..%2FREADME', 'decisions/..%2Fjobs', 'images/..%2Fjobs.md', '__proto__'],
  ]) {
    assert.match(await read(`/docs/${name}`), /^404/, name);
  }
});
