import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import http from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import Fastify from 'fastify';
import {
  RECEIVER_SECRET,
  SIGNED_AT,
  type SignedDelivery,
  signedDelivery,
} from '../../../../test/fixtures/webhooks/signed-delivery.ts';
import type { AnyEvent } from '../../wire.ts';
import { signTestDelivery } from '../test-delivery.ts';
import { rememberEvents } from './event-memory.ts';
import { expressHandler } from './express-handler.ts';
import { fastifyWebhooks } from './fastify-webhooks.ts';
import { fetchHandler } from './fetch-handler.ts';
import type { Handlers, ReceiverOptions } from './receiver.ts';

type ExpressApp = RequestListener & {
  use(...handlers: unknown[]): void;
  post(path: string, ...handlers: unknown[]): void;
};
type Express = (() => ExpressApp) & Record<'json' | 'raw' | 'text', (options?: object) => unknown>;
// It brings no types, and the handler needs none of its.
const express = createRequire(import.meta.url)('express') as Express;

const PATH = '/hooks/verbatim';

type Server = AsyncDisposable & { url: string };

async function listen(listener: RequestListener): Promise<Server> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function optionsOf(on: Handlers, more: Partial<ReceiverOptions> = {}): ReceiverOptions {
  return { secret: RECEIVER_SECRET, on, now: () => SIGNED_AT, ...more };
}

function expressApp(...before: unknown[]): (options: ReceiverOptions) => Promise<Server> {
  return (options) => {
    const app = express();
    app.post(PATH, ...before, expressHandler(options));
    app.use((error: Error, _request: unknown, response: http.ServerResponse, _next: unknown) => {
      response.writeHead(500).end(error.message);
    });
    return listen(app);
  };
}

async function fastifyApp(options: ReceiverOptions): Promise<Server> {
  const app = Fastify();
  // What the rest of an app may have: it must not reach the webhook's scope.
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => done(null, [body]));
  app.post('/other', async ({ body }) => body);
  await app.register(fastifyWebhooks, { ...options, path: PATH });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}${PATH}`, [Symbol.asyncDispose]: () => app.close() };
}

/** Request and Response over node:http, as such frameworks do it; what the handler throws becomes a 500. */
function fetchServer(options: ReceiverOptions): Promise<Server> {
  const handle = fetchHandler(options);
  return listen(async (incoming, outgoing) => {
    const hasBody = incoming.method !== 'GET';
    const request = new Request(`http://receiver${incoming.url}`, {
      method: incoming.method!,
      headers: incoming.headers as Record<string, string>,
      ...(hasBody ? { body: Readable.toWeb(incoming) as ReadableStream<Uint8Array>, duplex: 'half' } : {}),
    });
    const response = await handle(request).catch((error: Error) => new Response(error.message, { status: 500 }));
    outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
  });
}

const SERVERS: Record<string, (options: ReceiverOptions) => Promise<Server>> = {
  'node:http': (options) => listen(expressHandler(options)),
  Express: expressApp(),
  'Express behind express.raw()': expressApp(express.raw({ type: '*/*' })),
  'Express behind express.text()': expressApp(express.text({ type: '*/*' })),
  Fastify: fastifyApp,
  'a fetch-style server': fetchServer,
};

async function post(url: string, { headers, body }: SignedDelivery): Promise<{ status: number; text: string }> {
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, text: await response.text() };
}

test('a receiver of alerts has handlers for them, typed by their event', async () => {
  const told: string[] = [];
  const data = { webhook: { url: 'https://hooks.example.com/' }, delivery: { reason: 'timeout' } };
  const event = { id: 'evt_1', type: 'webhook.exhausted', data };
  const on: Handlers = {
    'webhook.exhausted': ({ data: { webhook, delivery } }) => told.push(`${webhook.url} ${delivery.reason}`),
  };
  await using server = await fetchServer(optionsOf(on));

  const answer = await post(server.url, signTestDelivery({ secret: RECEIVER_SECRET, event, now: SIGNED_AT }));

  assert.deepEqual([answer.status, told], [204, ['https://hooks.example.com/ timeout']]);
});

for (const [name, start] of Object.entries(SERVERS)) {
  test(`${name}: a genuine delivery is handled and answered 204 without a body`, async () => {
    const events: AnyEvent[] = [];
    await using server = await start(optionsOf({ 'transcription.completed': (event) => events.push(event) }));
    const delivery = signedDelivery();

    const answer = await post(server.url, delivery);

    assert.deepEqual(answer, { status: 204, text: '' });
    assert.deepEqual(events, [JSON.parse(delivery.body)]);
  });

  test(`${name}: any content type is accepted`, async () => {
    await using server = await start(optionsOf({}));
    const delivery = signedDelivery();
    delivery.headers['Content-Type'] = 'application/json; charset=utf-8';

    assert.equal((await post(server.url, delivery)).status, 204);
  });

  test(`${name}: a changed byte, a missing signature and an old timestamp are refused with a reason`, async () => {
    let nowMs = SIGNED_AT;
    const on = { 'transcription.completed': () => assert.fail() };
    await using server = await start(optionsOf(on, { now: () => nowMs }));
    const { headers, body } = signedDelivery();
    const { 'X-Service-Signature': _, ...unsigned } = headers;

    const changed = await post(server.url, { headers, body: body.replace('42', '43') });
    const missing = await post(server.url, { headers: unsigned, body });
    nowMs += 301_000;
    const old = await post(server.url, { headers, body });

    assert.deepEqual([changed.status, missing.status, old.status], [401, 400, 401]);
    assert.match(changed.text, /signature does not belong/);
    assert.match(old.text, /more than 300 seconds/);
  });

  test(`${name}: a body over the limit is refused with 413`, async () => {
    const on = { 'transcription.completed': () => assert.fail() };
    await using server = await start(optionsOf(on, { maxBodyBytes: 100 }));

    assert.equal((await post(server.url, signedDelivery())).status, 413);
  });

  test(`${name}: a handler that fails is answered 500, and the event is handled when it is sent again`, async (t) => {
    const printed = t.mock.method(console, 'error', () => undefined);
    let calls = 0;
    const failOnce = async () => {
      if (++calls === 1) throw new Error('database away');
    };
    await using server = await start(optionsOf({ 'transcription.completed': failOnce }, { memory: rememberEvents() }));

    const statuses = [];
    for (let i = 0; i < 3; i++) statuses.push((await post(server.url, signedDelivery())).status);

    assert.deepEqual(statuses, [500, 204, 204]);
    assert.equal(calls, 2);
    assert.equal(printed.mock.callCount(), name === 'node:http' ? 1 : 0);
  });
}

for (const name of ['node:http', 'a fetch-style server']) {
  test(`${name}: a GET is answered 405 with Allow`, async () => {
    await using server = await SERVERS[name]!(optionsOf({}));

    const response = await fetch(server.url);

    assert.equal(response.status, 405);
    assert.equal(response.headers.get('allow'), 'POST');
  });
}

test('after express.json() the error says where to mount the handler', async () => {
  await using server = await expressApp(express.json())(optionsOf({}));

  const { status, text } = await post(server.url, signedDelivery());

  assert.equal(status, 500);
  assert.match(text, /parsed before.*before express\.json\(\)/);
});

test('after express.json() the handler uses request.rawBody', async () => {
  const verify = (request: { rawBody?: Buffer }, _response: unknown, raw: Buffer) => {
    request.rawBody = raw;
  };
  await using server = await expressApp(express.json({ verify }))(optionsOf({}));

  assert.equal((await post(server.url, signedDelivery())).status, 204);
});

test('fetchHandler with a request whose body was read throws an error that says what to do', async () => {
  const request = new Request('http://receiver/', { method: 'POST', ...signedDelivery() });
  await request.json();

  await assert.rejects(fetchHandler(optionsOf({}))(request), /parsed before.*request\.clone\(\)/);
});

test('Fastify: the rest of the app keeps its parsers', async () => {
  await using server = await fastifyApp(optionsOf({}));

  const response = await fetch(new URL('/other', server.url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '{}',
  });

  assert.deepEqual(await response.json(), ['{}']);
});
