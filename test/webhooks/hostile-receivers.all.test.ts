import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import { openBlackHole } from '../fixtures/servers/black-hole.ts';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { HOSTILE_MODES, type HostileMode, openHostileReceiver } from '../fixtures/webhooks/hostile-receiver.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { type Caller, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

// A fifth of the real 5 s. For a full-length run: TEST_WEBHOOK_TIMEOUT_MS=5000 TEST_HOSTILE_PINGS=20.
const TIMEOUT_MS = Number(process.env['TEST_WEBHOOK_TIMEOUT_MS'] ?? 1_000);
const PINGS = Number(process.env['TEST_HOSTILE_PINGS'] ?? 3);
const MAX_GROWTH_MB = 50;
// The limit on a quiet machine is 500 ms; other tests share the processor.
const MAX_LATE_MS = 1_000;
const WEBHOOKS_PER_ACCOUNT = 5;

/** The result of an attempt at each receiver: a reason, or success. */
const OUTCOMES: Record<HostileMode | 'blackHole', string> = {
  hang: 'timeout',
  hangBeforeTls: 'timeout',
  blackHole: 'timeout',
  dripHeader: 'timeout',
  reset: 'reset',
  resetBeforeTls: 'reset',
  brokenBody: 'succeeded',
  garbage: 'protocol',
  bigHeader: 'protocol',
  informational: 'protocol',
  endlessContinue: 'protocol',
  upgrade: 'protocol',
  twoLengths: 'protocol',
  plainHttp: 'tls',
  tls11: 'tls',
  expired: 'tls',
  notYetValid: 'tls',
  wrongHost: 'tls',
  selfSigned: 'tls',
  unknownAuthority: 'tls',
  dripBody: 'succeeded',
  endlessBody: 'succeeded',
  gzipBomb: 'succeeded',
};
/** These keep an attempt busy until its time is up. */
const UNTIL_DEADLINE = ['hang', 'hangBeforeTls', 'blackHole', 'dripHeader', 'dripBody'];

type Entry = { status: string; error: { reason: string; message: string } | null; duration_ms: number };

test('attempts at hostile receivers end in time with the right reason, and do not slow other deliveries or use more memory', async (t) => {
  await using stack = new AsyncDisposableStack();
  const hostile = await Promise.all(
    HOSTILE_MODES.map(async (mode) => ({ mode, ...stack.use(await openHostileReceiver(mode)) })),
  );
  const blackHole = stack.use(await openBlackHole());
  const healthy = stack.use(await openReceiver());
  const targets = [...hostile, { mode: 'blackHole' as const, ...blackHole, requestBytes: () => 0 }];
  const environment = stack.use(
    await openWebhookService([healthy.port, ...targets.map(({ port }) => port)], {
      WEBHOOK_TIMEOUT_MS: String(TIMEOUT_MS),
      WEBHOOK_RETRY_DELAYS: '0,3600,3600,3600',
      WEBHOOK_DISABLE_FAILURES: '1000',
    }),
  );
  const node = await environment.start('api,deliverer');
  const hooks = await openHooks(node, environment.caller, targets);
  const bystander = await environment.caller(node);
  const good = await bystander.webhook(healthy.url);
  const ping = async (count: number) => {
    const seen = healthy.requests.length;
    for (let sent = 0; sent < count; sent++) await bystander.call('POST', `${good.path}/test`);
    await healthy.waitFor(seen + count);
  };
  await ping(100);
  const base = await measureLatency(bystander.call, TIMEOUT_MS);
  using memory = watchMemory(node);

  await Promise.all(
    hooks.flatMap(({ call, path }) => Array.from({ length: PINGS }, () => call('POST', `${path}/test`))),
  );
  const [meanwhile] = await Promise.all([measureLatency(bystander.call, TIMEOUT_MS), ping(20)]);
  const ended = await Promise.all(hooks.map(async (hook) => ({ ...hook, entries: await entriesOf(hook) })));
  const growthMb = memory.growthMb();

  assert.deepEqual(
    Object.fromEntries(
      ended.map(({ mode, entries }) => [mode, [...new Set(entries.map((one) => one.error?.reason ?? one.status))]]),
    ),
    Object.fromEntries(Object.entries(OUTCOMES).map(([mode, outcome]) => [mode, [outcome]])),
  );
  for (const { mode, entries, requestBytes } of ended) {
    const [shortest, longest] = [Math.min, Math.max].map((pick) => pick(...entries.map((one) => one.duration_ms)));
    t.diagnostic(`${mode}: ${Math.round(shortest!)} to ${Math.round(longest!)} ms`);
    assert.ok(longest! <= TIMEOUT_MS + MAX_LATE_MS, `${mode} took ${longest} ms`);
    assert.ok(!UNTIL_DEADLINE.includes(mode) || shortest! >= TIMEOUT_MS - 20, `${mode} ended after ${shortest} ms`);
    assert.ok(OUTCOMES[mode] !== 'tls' || requestBytes() === 0, `${mode} was sent a request`);
  }
  t.diagnostic(`API p50 and p99 before: ${base}; meanwhile: ${meanwhile}; memory grew by ${growthMb} MB`);
  assert.ok(growthMb < MAX_GROWTH_MB, `grew by ${growthMb} MB`);
});

type Target = { mode: HostileMode | 'blackHole'; url: string; requestBytes(): number };
type Hook = Target & { call: Caller['call']; path: string };

async function openHooks(
  node: TestService,
  openCaller: (node: TestService) => Promise<Caller>,
  targets: readonly Target[],
): Promise<Hook[]> {
  const hooks: Hook[] = [];
  for (let first = 0; first < targets.length; first += WEBHOOKS_PER_ACCOUNT) {
    const { call, webhook } = await openCaller(node);
    for (const target of targets.slice(first, first + WEBHOOKS_PER_ACCOUNT)) {
      hooks.push({ ...target, call, path: (await webhook(target.url)).path });
    }
  }
  return hooks;
}

async function entriesOf({ call, path, mode }: Hook): Promise<Entry[]> {
  return await until(
    `the attempts at ${mode}`,
    async () => {
      const { data } = (await call('GET', `${path}/deliveries?limit=100`)).json as { data: Entry[] };
      const made = data.filter(({ status }) => status === 'succeeded' || status === 'failed');
      return made.length >= PINGS ? made : null;
    },
    90_000,
  );
}

/** p50 and p99 in ms of sequential calls during a period. */
async function measureLatency(call: Caller['call'], forMs: number): Promise<string> {
  const took: number[] = [];
  for (const endsAt = performance.now() + forMs; performance.now() < endsAt; ) {
    const startedAt = performance.now();
    await call('GET', '/v1/webhooks');
    took.push(performance.now() - startedAt);
  }
  took.sort((a, b) => a - b);
  const at = (share: number) => took[Math.floor(share * took.length)]!.toFixed(1);
  return `${at(0.5)} and ${at(0.99)} ms (${took.length} calls)`;
}

/** Growth of the deliverer's peak memory from now on. */
function watchMemory(node: TestService) {
  const [deliverer] = descendantsOf(node.pid).filter(({ arguments: args }) => args.includes('deliverer'));
  const residentMb = () => {
    const status = readFileSync(`/proc/${deliverer!.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) / 1024;
  };
  const baseMb = residentMb();
  let mostMb = baseMb;
  const timer = setInterval(() => {
    mostMb = Math.max(mostMb, residentMb());
  }, 50);
  return {
    growthMb: () => Math.round(Math.max(mostMb, residentMb()) - baseMb),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
