import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { buildSdk } from '../../scripts/build-sdk.ts';

const TSC = path.join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');

const JAVASCRIPT = `
import { createReceiver, rememberEvents, verifyDelivery, WebhookVerificationError } from '@verbatim/sdk';
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
console.log(JSON.stringify({ refusal, handled, statuses: replies.map((reply) => reply.status) }));
`;

const TYPESCRIPT = `
import Fastify from 'fastify';
import { createServer } from 'node:http';
import { expressHandler, fastifyWebhooks, fetchHandler, verifyDelivery } from '@verbatim/sdk';

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

const TS_CONFIG = {
  compilerOptions: {
    module: 'nodenext',
    target: 'es2022',
    lib: ['es2022', 'dom'],
    types: ['node'],
    strict: true,
    noEmit: true,
  },
  files: ['app.ts'],
};

/** A project in which the built package is installed, beside this project's dependencies. */
function makeProject(): { folder: string } & Disposable {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'receiver-'));
  const modules = path.join(folder, 'node_modules');
  buildSdk(path.join(modules, '@verbatim/sdk'));
  for (const name of ['fastify', '@types']) {
    const target = path.join(import.meta.dirname, '../../node_modules', name);
    fs.symlinkSync(fs.realpathSync(target), path.join(modules, name));
  }
  fs.writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  fs.writeFileSync(path.join(folder, 'app.js'), JAVASCRIPT);
  fs.writeFileSync(path.join(folder, 'app.ts'), TYPESCRIPT);
  fs.writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(TS_CONFIG));
  return { folder, [Symbol.dispose]: () => fs.rmSync(folder, { recursive: true, force: true }) };
}

test('the published package works in plain JavaScript, and its types in strict TypeScript', () => {
  using project = makeProject();
  const options = { cwd: project.folder, encoding: 'utf8' } as const;

  const output = execFileSync(process.execPath, ['app.js'], options);
  const complaints = execFileSync(process.execPath, [TSC, '-p', '.'], options);

  assert.deepEqual(JSON.parse(output), { refusal: 'bad_signature', handled: 1, statuses: [204, 204] });
  assert.equal(complaints, '');
});

test('the package has no dependencies, no tests, and only declaration files in TypeScript', () => {
  using project = makeProject();
  const folder = path.join(project.folder, 'node_modules/@verbatim/sdk');

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
