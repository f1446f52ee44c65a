import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { checkPackage, Package } from '@arethetypeswrong/core';
import { build, type Plugin } from 'esbuild';
import { publint } from 'publint';
import { buildSdk } from '../../scripts/build-sdk.ts';
import vectorFile from '../vectors.json' with { type: 'json' };

const MODULES = path.join(import.meta.dirname, '../../node_modules');
const TSC = path.join(MODULES, 'typescript/bin/tsc');
// Beyond these a page or a Worker loads noticeably later.
const MAX_CLIENT_BYTES = 10_000;
// With `live`, which bundlers that divide bundles load when it is called.
const MAX_LIVE_CLIENT_BYTES = 13_000;
const MAX_VERIFICATION_BYTES = 2_000;
// Each file takes part of a millisecond to load.
const MAX_LOADED_FILES = 8;

const JAVASCRIPT = `
import { createReceiver, rememberEvents, Verbatim, verifyDelivery, WebhookVerificationError } from '@verbatim/sdk';
import * as client from '@verbatim/sdk/client';
import * as webhooks from '@verbatim/sdk/webhooks';
import file from '@verbatim/sdk/vectors.json' with { type: 'json' };

const { secret, timestamp, body, signature } = file.vectors[0];
const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
const now = Date.parse(timestamp);
let refusal;
try {
  verifyDelivery({ secret, headers, body: body + ' ', now });
} catch (error) {
  refusal = error instanceof WebhookVerificationError && error.code;
}
let handled = 0;
const on = { 'webhook.test': () => handled++ };
const receiver = createReceiver({ secret, on, memory: rememberEvents(), now: () => now });
const replies = [await receiver.receive({ headers, body }), await receiver.receive({ headers, body })];
const sent = [];
const fetch = async (url, { body }) => {
  sent.push(body.size > 10);
  return new Response('{"id":"job_1","metadata":null}');
};
const { id } = await new Verbatim({ fetch }).jobs.create({ path: 'package.json' });
const isSame = client.Verbatim === Verbatim && webhooks.verifyDelivery === verifyDelivery;
console.log(JSON.stringify({ refusal, handled, statuses: replies.map((reply) => reply.status), id, sent, isSame }));
`;

const TYPESCRIPT = `
import Fastify from 'fastify';
import { createServer } from 'node:http';
import { ApiError, expressHandler, fastifyWebhooks, fetchHandler, Verbatim, verifyDelivery } from '@verbatim/sdk';
import type { Job, Webhook } from '@verbatim/sdk';

const on = {};
createServer(expressHandler({ secret: '', on }));
Fastify().register(fastifyWebhooks, { path: '/', secret: '', on });
const handle: (request: Request) => Promise<Response> = fetchHandler({
  secret: '',
  on: { 'transcription.completed': (event) => event.data.job.text?.length },
});
const event = verifyDelivery({ secret: '', headers: new Headers(), body: '' });
if (event.type === 'webhook.test') event.data.webhook.url.toUpperCase();
// @ts-expect-error: there is no such type of event
fetchHandler({ secret: '', on: { 'transcription.complete': () => undefined } });
export default handle;
`;

/** For a project without the types of Node. */
const WEB_TYPESCRIPT = `
import type { Job, Webhook } from '@verbatim/sdk';
import { ApiError, Verbatim } from '@verbatim/sdk/client';
import { fetchHandler } from '@verbatim/sdk/webhooks';

export async function run(file: File): Promise<Job> {
  const client = new Verbatim({ apiKey: async () => 'vb_1', allowBrowser: true });
  const { text, segments } = await client.transcribe(file, { diarize: true, onProgress: ({ part }) => part.toFixed() });
  text.toUpperCase();
  segments[0]?.words?.[0]?.confidence;
  const webhooks: Webhook[] = await client.webhooks.list().toArray({ limit: 5 });
  for await (const job of client.jobs.list({ status: 'failed' })) job.error?.type === 'engine_error';
  for await (const frame of client.stream({ topics: ['jobs'] })) if (frame.type === 'job') frame.data.status;
  // @ts-expect-error: there is no such state
  client.jobs.list({ status: 'done' });
  // @ts-expect-error: a transcript as SRT is a string
  (await client.jobs.transcript('job_1', 'srt')).segments;
  return await client.jobs.get(webhooks[0]!.id).catch((error: unknown) => {
    if (error instanceof ApiError && error.type === 'rate_limited') error.retryAfterMs?.toFixed();
    throw error;
  });
}
export default fetchHandler({ secret: '', on: {} });
`;

/** What Node, Workers and browsers have in common, as far as the package uses it. */
const WEB_GLOBALS = [
  ...['fetch', 'Headers', 'Request', 'Response', 'Blob', 'File', 'ReadableStream', 'URLSearchParams', 'crypto', 'atob'],
  ...['TextEncoder', 'TextDecoder', 'AbortController', 'AbortSignal', 'setTimeout', 'clearTimeout'],
  // Otherwise a new context has classes of its own for these.
  ...['Uint8Array', 'ArrayBuffer'],
];

const STRICT = { module: 'nodenext', target: 'es2022', strict: true, noEmit: true, exactOptionalPropertyTypes: true };
const TS_CONFIG = { compilerOptions: { ...STRICT, lib: ['es2022', 'dom'], types: ['node'] }, files: ['app.ts'] };
const WEB_TS_CONFIG = {
  // The declarations of the package are checked too.
  compilerOptions: { ...STRICT, lib: ['es2022', 'dom', 'dom.asynciterable'], types: [], skipLibCheck: false },
  files: ['web.ts'],
};

/** A project in which the built package is installed. */
const project = fs.mkdtempSync(path.join(os.tmpdir(), 'sdk-project-'));
const folder = path.join(project, 'node_modules/@verbatim/sdk');

before(() => {
  buildSdk(folder);
  for (const name of ['fastify', '@types']) {
    fs.symlinkSync(fs.realpathSync(path.join(MODULES, name)), path.join(project, 'node_modules', name));
  }
  const files = { 'app.js': JAVASCRIPT, 'app.ts': TYPESCRIPT, 'web.ts': WEB_TYPESCRIPT };
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(project, name), text);
  fs.writeFileSync(path.join(project, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(path.join(project, 'tsconfig.json'), JSON.stringify(TS_CONFIG));
  fs.writeFileSync(path.join(project, 'tsconfig.web.json'), JSON.stringify(WEB_TS_CONFIG));
});

after(() => fs.rmSync(project, { recursive: true, force: true }));

const run = (...args: string[]) => execFileSync(process.execPath, args, { cwd: project, encoding: 'utf8' });

test('the published package works in plain JavaScript', () => {
  assert.deepEqual(JSON.parse(run('app.js')), {
    refusal: 'bad_signature',
    handled: 1,
    statuses: [204, 204],
    id: 'job_1',
    sent: [true],
    isSame: true,
  });
});

test('its types hold in strict TypeScript, also without those of Node', () => {
  assert.equal(run(TSC, '-p', 'tsconfig.json'), '');
  assert.equal(run(TSC, '-p', 'tsconfig.web.json'), '');
});

test('the package has no dependencies, no tests, and only declaration files in TypeScript', () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const files = fs.readdirSync(folder, { recursive: true }).map(String);

  assert.equal(manifest.dependencies, undefined);
  assert.equal(manifest.private, undefined);
  assert.deepEqual(
    files.filter((file) => /\.test\.|(?<!\.d)\.ts$/.test(file)),
    [],
  );
  for (const file of ['index.js', 'index.d.ts', 'README.md', 'LICENSE', 'vectors.json'])
    assert.ok(files.includes(file));
});

test(`each entry loads at most ${MAX_LOADED_FILES} files, with source maps that have the TypeScript`, () => {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  const entries = Object.values<string | { default: string }>(manifest.exports).flatMap((entry) =>
    typeof entry === 'string' ? [] : [path.join(folder, entry.default)],
  );

  assert.equal(entries.length, 3);
  for (const entry of entries) {
    const files = loadedFiles(entry);
    assert.ok(files.size <= MAX_LOADED_FILES, `${entry}: ${[...files].join(', ')}`);
    for (const file of files) {
      const { sources, sourcesContent } = JSON.parse(fs.readFileSync(`${file}.map`, 'utf8'));
      assert.equal(sourcesContent.length, sources.length, file);
    }
  }
});

/** The entry and all files of the package that it imports statically. */
function loadedFiles(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  const imports = fs.readFileSync(file, 'utf8').matchAll(/^(?:import|} from) "(\.[^"]+)";$/gm);
  for (const [, name] of imports) loadedFiles(path.join(path.dirname(file), name!), found);
  return found;
}

test('publint finds nothing', async () => {
  const { messages } = await publint({ pkgDir: folder, pack: false, strict: true });

  assert.deepEqual(messages, []);
});

test('the types are found by all resolutions of modules that know of exports', async () => {
  const names = fs.readdirSync(folder, { recursive: true, withFileTypes: true });
  const files = names
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => [
      path.join('/node_modules/@verbatim/sdk', path.relative(folder, file)),
      fs.readFileSync(file, 'utf8'),
    ]);

  const result = await checkPackage(new Package(Object.fromEntries(files), '@verbatim/sdk', '0.0.0'));

  assert.ok(result.types);
  const problems = result.problems.filter(
    (problem) => !('resolutionKind' in problem && problem.resolutionKind === 'node10'),
  );
  assert.deepEqual(
    // The package is of ES modules only, which CommonJS loads by import(), or by require() since Node 22.12.
    problems.filter(({ kind }) => kind !== 'CJSResolvesToESM'),
    [],
  );
});

const leaveOutImports: Plugin = {
  name: 'leave out import()',
  setup(build) {
    build.onResolve({ filter: /./ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './later.js', external: true } : null,
    );
  },
};

async function bundle(code: string, format: 'esm' | 'iife' = 'esm', plugins: Plugin[] = []): Promise<string> {
  const { outputFiles } = await build({
    plugins,
    stdin: { contents: code, resolveDir: project },
    bundle: true,
    minify: true,
    platform: 'browser',
    target: 'es2022',
    write: false,
    format,
    globalName: 'sdk',
  });
  return outputFiles[0]!.text;
}

for (const [what, code, plugins, maxBytes] of [
  ['the client', `export * from '@verbatim/sdk/client'`, [leaveOutImports], MAX_CLIENT_BYTES],
  ['the client with live sessions', `export * from '@verbatim/sdk/client'`, [], MAX_LIVE_CLIENT_BYTES],
  ['verification', `export { verifyDeliveryAsync } from '@verbatim/sdk/webhooks'`, [], MAX_VERIFICATION_BYTES],
] as const) {
  test(`${what} has at most ${maxBytes} bytes, bundled and compressed`, async (t) => {
    const bytes = gzipSync(await bundle(code, 'esm', [...plugins]), { level: 9 }).length;

    t.diagnostic(`${bytes} bytes`);
    assert.ok(bytes <= maxBytes, `${bytes} bytes`);
  });
}

test('a bundle needs nothing of Node: it verifies and transcribes with what Workers and browsers have', async () => {
  const code = await bundle(`export * from '@verbatim/sdk'`, 'iife');
  const globals = WEB_GLOBALS.map((name) => [name, Reflect.get(globalThis, name)]);
  const sandbox = { ...Object.fromEntries(globals), sdk: {} } as { sdk: typeof import('./index.ts') };
  vm.runInNewContext(code.replace(/^var sdk=/, 'globalThis.sdk='), sandbox);
  const { sdk } = sandbox;

  for (const { secret, timestamp, body, signature } of vectorFile.vectors) {
    const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
    const event = await sdk.verifyDeliveryAsync({ secret, headers, body, now: Date.parse(timestamp) });
    assert.equal(event.id, JSON.parse(body).id);
  }
  const client = new sdk.Verbatim({ apiKey: 'vb_1', fetch: async () => new Response('{"id":"job_1"}') });
  assert.equal((await client.jobs.create(new File(['RIFF'], 'a.wav'))).id, 'job_1');
  await assert.rejects(client.jobs.create({ path: 'a.wav' }), /no files here/);
});
