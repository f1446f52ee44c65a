import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { openEventReader } from '../../console/event-stream.ts';
import {
  byteSize,
  clockTime,
  credits,
  headerLines,
  milliseconds,
  readPlace,
  readToken,
  withQuery,
} from '../../console/format.ts';
import { memberText, prettyJson } from '../../console/json-text.ts';
import { buildServer } from '../../src/http/server/server.ts';
import { consoleRoutes } from '../../src/http/service/console.ts';
import { openLog } from '../../src/platform/log.ts';
import { httpMetrics, openMetrics } from '../../src/platform/metrics.ts';
import { codeOf, readSources } from '../structure/sources.ts';

const sources = readSources(['console'], '.ts');

function openNode() {
  const app = buildServer({
    routes: consoleRoutes(),
    auth: { findCaller: async () => null, adminToken: 'x' },
    limits: { admit: async () => null },
    log: openLog('silent'),
    metrics: httpMetrics(openMetrics()),
  });
  return { app, [Symbol.asyncDispose]: () => app.close() };
}

test('the key of a link is read from a fragment of its own only', () => {
  assert.deepEqual(['#token=vb_a1', '#token=', '#token=a b', '#/token=a', '#/jobs?token=a', ''].map(readToken), [
    'vb_a1',
    null,
    null,
    null,
    null,
    null,
  ]);
});

test('the page runs nothing inline and loads nothing from elsewhere', async () => {
  await using node = openNode();

  const { statusCode, headers, body } = await node.app.inject({ url: '/' });

  assert.equal(statusCode, 200);
  assert.match(String(headers['content-type']), /^text\/html/);
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  assert.equal(headers['cache-control'], 'no-cache');
  assert.doesNotMatch(body, /<style|style=|\son\w+=|https?:\/\/|<script(?![^>]* src=")/);
});

test('every file that the page needs is there, in JavaScript, and may be kept for ever', async () => {
  await using node = openNode();
  const page = (await node.app.inject({ url: '/' })).body;
  const wanted = [...page.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, url]) => url!);
  const seen = new Set<string>();

  while (wanted.length > 0) {
    const url = wanted.pop()!;
    if (seen.has(url)) continue;
    seen.add(url);
    const { statusCode, headers, body } = await node.app.inject({ url });
    assert.deepEqual([url, statusCode], [url, 200]);
    assert.match(String(headers['cache-control']), /immutable/);
    if (!url.endsWith('.ts')) continue;
    assert.match(String(headers['content-type']), /^text\/javascript/);
    assert.doesNotMatch(body, /^import type|: View =|\bas Promise</m);
    const imports = [...body.matchAll(/^(?:import|export)[^;]*? from '([^']+)'/gm)];
    wanted.push(...imports.map(([, from]) => path.posix.join(path.posix.dirname(url), from!)));
  }

  const served = [...seen]
    .filter((url) => url.endsWith('.ts'))
    .map((url) => url.replace(/^\/console\/\w+\//, 'console/'));
  assert.deepEqual(served.sort(), sources.map(({ file }) => file).sort());
});

test('files of another version are given once and not kept; what is no file is a 404', async () => {
  await using node = openNode();

  const other = await node.app.inject({ url: '/console/0123456789ab/app.ts' });
  const urls = [
    'tsconfig.json',
    'index.html',
    'none.ts',
    'views/none.ts',
    '..%2f..%2fpackage.json',
    'views/..%2fapp.ts',
  ];
  const missing = await Promise.all(urls.map((file) => node.app.inject({ url: `/console/0123456789ab/${file}` })));

  assert.deepEqual([other.statusCode, other.headers['cache-control']], [200, 'no-store']);
  assert.deepEqual(
    missing.map(({ statusCode }) => statusCode),
    urls.map(() => 404),
  );
  assert.equal(missing[0]!.json().error.type, 'not_found');
});

test('no text becomes markup or code, and secrets stay in the tab', () => {
  const risky =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|\beval\(|new Function|localStorage|document\.cookie/;

  assert.ok(sources.length > 10);
  assert.deepEqual(
    sources.filter((source) => risky.test(codeOf(source))).map(({ file }) => file),
    [],
  );
});

const METADATA = '{"order": 12345678901234567890, "a":[1.0,1e400,{"metadata":1}], "t":"}\\",\\"metadata\\":[", "a":2}';

test('metadata is cut out of a job as it was written', () => {
  const job = `{"id":"job_1","text":"\\"metadata\\":3","nested":{"metadata":4},"metadata":${METADATA},"error":null}`;

  assert.equal(memberText(job, 'metadata'), METADATA);
  assert.equal(memberText(job, 'error'), 'null');
  assert.equal(memberText(job, 'order'), null);
  assert.equal(memberText('{"metadata" : "metadata" }', 'metadata'), '"metadata"');
});

test('JSON is laid out without a change to its digits, keys and escapes', () => {
  assert.equal(
    prettyJson('{"a":12345678901234567890,"a":[],"b":[1.0,{}]}'),
    ['{', '  "a": 12345678901234567890,', '  "a": [],', '  "b": [', '    1.0,', '    {}', '  ]', '}'].join('\n'),
  );
  assert.equal(prettyJson(METADATA).replace(/\n\s*/g, '').replaceAll(': ', ':'), METADATA.replace(/(?<=[,:]) /g, ''));
  assert.equal(prettyJson('<b>{no json</b>'), '<b>{no json</b>');
});

test('events of a stream are read however the text is cut', () => {
  const stream =
    'retry: 2000\n\nevent: status\ndata: {"status":"queued"}\n\n: nothing new\n\nevent: progress\ndata: 1\n\n';
  const wanted = [
    { event: 'status', data: '{"status":"queued"}' },
    { event: 'progress', data: '1' },
  ];

  for (let cut = 0; cut <= stream.length; cut++) {
    const read = openEventReader();
    assert.deepEqual([...read(stream.slice(0, cut)), ...read(stream.slice(cut))], wanted);
  }
});

test('figures are written for people', () => {
  assert.deepEqual(
    [clockTime(7.46, 1), clockTime(59.96, 1), clockTime(3723), clockTime(0)],
    ['0:07.5', '1:00.0', '1:02:03', '0:00'],
  );
  assert.deepEqual(
    [byteSize(987), byteSize(96_400), byteSize(999_600), byteSize(1.2e9)],
    ['987 B', '96.4 KB', '1.0 MB', '1.2 GB'],
  );
  assert.deepEqual([credits(0), credits(0.0000333), credits(593.25)], ['0', '<\u00a00.001', '593.25']);
  assert.deepEqual([milliseconds(1.636175), milliseconds(47.25), milliseconds(null)], ['1.6 ms', '47 ms', '–']);
  assert.equal(
    headerLines({ 'Content-Type': 'text/plain', 'Set-Cookie': ['a', 'b'] }),
    'Content-Type: text/plain\nSet-Cookie: a, b',
  );
});

test('places are read from the address, odd ones as the start', () => {
  assert.deepEqual(readPlace('#/jobs/job_1?status=failed&cursor=a%2Bb'), {
    parts: ['jobs', 'job_1'],
    query: { status: 'failed', cursor: 'a+b' },
  });
  assert.deepEqual(readPlace('#/jobs/%zz'), { parts: [], query: {} });
  assert.equal(withQuery('/v1/jobs', { status: 'failed', cursor: '', limit: null }), '/v1/jobs?status=failed');
});
