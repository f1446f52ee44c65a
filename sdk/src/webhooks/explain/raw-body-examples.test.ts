import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import fastify from 'fastify';
import { signBody, verifyDelivery } from '../index.ts';
import type { FRAMEWORKS } from './frameworks.ts';
import { RAW_BODY_EXAMPLES } from './raw-body-examples.ts';

// It brings no types.
const express = createRequire(import.meta.url)('express') as () => RequestListener;

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
// A parser would lose the spaces, and with them the signature.
const body = '{ "id": "evt_1", "type": "webhook.test" }';
const timestamp = new Date().toISOString();
const headers = {
  'Content-Type': 'application/json',
  'X-Service-Timestamp': timestamp,
  'X-Service-Signature': signBody({ secret, timestamp, body }),
};

/** The example's code, with what it uses as names in scope; `export` is left out. */
function runExample(framework: keyof typeof FRAMEWORKS, scope: Record<string, unknown>, result = ''): unknown {
  const code = RAW_BODY_EXAMPLES[framework].code.replace('export ', '');
  return new Function(...Object.keys(scope), `${code}\n${result}`)(...Object.values(scope));
}

const scope = { verifyDelivery, secret, Buffer };

test('the lines for Express verify a delivery, and leave other routes their parser', async (t) => {
  const app = express();
  runExample(
    'express',
    { ...scope, app, express },
    'app.post("/other", (request, response) => response.json(request.body));',
  );
  const server = http.createServer(app).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const answer = await fetch(`${url}/hooks`, { method: 'POST', headers, body });
  const other = await fetch(`${url}/other`, { method: 'POST', headers, body: '{ "a": 1 }' });

  assert.equal(answer.status, 204);
  assert.deepEqual(await other.json(), { a: 1 });
});

test('the lines for Fastify verify a delivery, and leave other routes their parser', async (t) => {
  const app = fastify();
  t.after(() => app.close());
  runExample('fastify', { ...scope, app });
  app.post('/other', async (request) => request.body);

  const answer = await app.inject({ method: 'POST', url: '/hooks', headers, body });
  const other = await app.inject({ method: 'POST', url: '/other', headers, body: '{ "a": 1 }' });

  assert.equal(answer.statusCode, 204, answer.body);
  assert.deepEqual(other.json(), { a: 1 });
});

test('the lines for Next.js, Hono and Lambda verify a delivery', async () => {
  const request = () => new Request('http://a/hooks', { method: 'POST', headers, body });
  const routes: ((context: object) => Promise<unknown>)[] = [];
  const app = { post: (_path: string, handle: (context: object) => Promise<unknown>) => void routes.push(handle) };

  const next = runExample('nextjs', scope, 'return POST;') as (request: Request) => Promise<Response>;
  runExample('hono', { ...scope, app });
  const lambda = runExample('lambda', scope, 'return handler;') as (event: object) => Promise<unknown>;

  assert.equal((await next(request())).status, 204);
  const raw = request();
  const context = { req: { raw, text: () => raw.text() }, body: (_body: null, status: number) => status };
  assert.equal(await routes[0]!(context), 204);
  const encoded = { headers, body: Buffer.from(body).toString('base64'), isBase64Encoded: true };
  assert.deepEqual(await lambda(encoded), { statusCode: 204 });
  assert.deepEqual(await lambda({ headers, body, isBase64Encoded: false }), { statusCode: 204 });
});

test('the lines of each framework in Python can be parsed', { skip: !hasPython() }, () => {
  const codes = Object.values(RAW_BODY_EXAMPLES).filter(({ language }) => language === 'python');

  assert.equal(codes.length, 3);
  for (const { code } of codes) {
    execFileSync('python3', ['-c', 'import ast, sys; ast.parse(sys.stdin.read())'], { input: code });
  }
});

function hasPython(): boolean {
  try {
    execFileSync('python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
