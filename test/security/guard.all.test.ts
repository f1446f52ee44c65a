import assert from 'node:assert/strict';
import net from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { ownNetworkCommand, runInOwnNetwork } from '../fixtures/servers/own-network.ts';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { FORBIDDEN_URLS } from '../fixtures/webhooks/forbidden-urls.ts';
import { type Answer, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

const FORBIDDEN = {
  reason: 'forbidden_address',
  message: 'The receiver is at an address that webhooks may not point to.',
};

const TEXT = 'hello quiet world';

/** Counts connections on loopback, and closes them. */
async function openCanary() {
  let connections = 0;
  const server = net.createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  return { port, connections: () => connections, close: () => server.close() };
}

let canary: Awaited<ReturnType<typeof openCanary>>;
let environment: Awaited<ReturnType<typeof openWebhookService>>;
let api: TestService;

// The API node allows webhooks to the canary; the delivering node does not, as after a change of settings.
before(async () => {
  canary = await openCanary();
  environment = await openWebhookService([canary.port], { WEBHOOK_RETRY_DELAYS: '0,0.05,0.05,0.05' });
  [api] = await Promise.all([
    environment.start('api'),
    environment.start('deliverer', { WEBHOOK_ALLOWED_TARGETS: `10.9.9.9/32:${canary.port}` }),
  ]);
});

after(async () => {
  await environment[Symbol.asyncDispose]();
  canary.close();
});

test('a webhook cannot be created for any spelling of a forbidden address or name, nor for a url other than https on 443', async () => {
  const { call } = await environment.caller(api);
  const create = (url: string) => call('POST', '/v1/webhooks', { url, events: ['webhook.test'] });

  const answers: [string, Answer][] = [];
  for (const url of FORBIDDEN_URLS) answers.push([url, await create(url)]);

  assert.deepEqual(
    answers.map(([url, { status, json }]) => [url, status, json.error?.type, json.error?.param]),
    FORBIDDEN_URLS.map((url) => [url, 400, 'forbidden_url', 'url']),
  );
  assert.equal((await call('GET', '/v1/webhooks')).json.data.length, 0);
});

for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', 'localhost']) {
  test(`an attempt, a retry, a test, a redelivery and a recovery to ${host} are refused without a connection`, async () => {
    const { call, emit, webhook } = await environment.caller(api);
    const hook = await webhook(`https://${host}:${canary.port}/`);
    const failed = (count: number) =>
      until(`${count} failed attempts`, async () => {
        const { data } = (await call('GET', `${hook.path}/deliveries?status=failed&limit=100`)).json;
        return data.length >= count ? data : null;
      });

    await emit();
    const [entry] = await failed(4);
    await call('POST', `${hook.path}/test`);
    await failed(8);
    const redelivered = await call('POST', `${hook.path}/deliveries/${entry.id}/redeliver`);
    await failed(12);
    const recovered = await call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' });
    const all = await failed(16);
    const full = await call('GET', `${hook.path}/deliveries/${entry.id}`);
    await call('DELETE', hook.path);

    assert.deepEqual([redelivered.status, recovered.status, recovered.json.events], [202, 202, 1]);
    assert.deepEqual(
      all.map(({ error }: { error: unknown }) => error),
      Array(16).fill(FORBIDDEN),
    );
    assert.deepEqual([full.json.remote_address, full.json.request, full.json.response], [null, null, null]);
    assert.doesNotMatch(full.text.replaceAll(entry.url, ''), /127\.0\.0\.1|::1|7f00/);
    assert.equal(canary.connections(), 0);
  });
}

type Refusal = { status: number; error: { type: string; message: string } };
type GuardEnvironment = {
  created: { what: string; created: [number, Refusal['error']]; changed: [number, Refusal['error']] }[];
  moved: { errors: unknown[]; recovered: unknown; full: Record<string, unknown>; requestsSince: number };
  badAnswers: { what: string; error: unknown }[];
  flips: string[];
  literals: { sent: string[]; asked: string[] };
  redirects: string[];
  unknownName: { reason: string };
  audio: Record<string, unknown>;
  canaries: number;
  canaryConnections: number;
};

const command = ownNetworkCommand();
test('the addresses of a name decide, at creation and at every attempt, and no forbidden address gets a connection', {
  skip: command === null && 'this system gives no network of its own (unshare, ip)',
}, async () => {
  const seen = (await runInOwnNetwork(
    command!,
    path.join(import.meta.dirname, 'guard-environment.ts'),
  )) as GuardEnvironment;

  const refusal = [400, 'forbidden_url'];
  const shown = ([status, error]: [number, Refusal['error']]) => [status, error.type];
  assert.deepEqual(
    seen.created.map(({ what, created, changed }) => [what, shown(created), shown(changed)]),
    seen.created.map(({ what }) => [what, refusal, refusal]),
  );
  // A name that got a private address after its webhook was created: retry, first attempt, test, redelivery, recovery.
  assert.deepEqual(seen.moved.errors, Array(17).fill(FORBIDDEN));
  assert.deepEqual([seen.moved.recovered, seen.moved.requestsSince], [{ events: 2 }, 0]);
  assert.deepEqual([seen.moved.full['remote_address'], seen.moved.full['request']], [null, null]);
  assert.deepEqual(
    seen.badAnswers,
    seen.created.map(({ what }) => ({ what, error: FORBIDDEN })),
  );
  // Every second look-up gives a private address: those attempts fail, and the others reach the public receiver.
  assert.deepEqual([...new Set(seen.flips)].sort(), ['forbidden_address', 'succeeded']);
  assert.equal(seen.flips.filter((outcome) => outcome === 'succeeded').length, 15);
  assert.deepEqual([[...new Set(seen.literals.sent)], seen.literals.asked], [['succeeded'], []]);
  assert.deepEqual(seen.redirects, Array(20).fill('redirect'));
  assert.equal(seen.unknownName.reason, 'dns');
  assert.deepEqual(seen.audio, {
    public: TEXT,
    rebound: 'forbidden_address',
    redirectInside: 'forbidden_address',
    redirectFlipping: [TEXT, 'forbidden_address', TEXT],
    redirectToMetadata: 'forbidden_address',
    redirectToHttp: 'redirect',
  });
  assert.ok(seen.canaries >= 6);
  assert.equal(seen.canaryConnections, 0);
});
