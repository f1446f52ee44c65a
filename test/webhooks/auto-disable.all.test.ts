import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descendantsOf } from '../fixtures/processes/process-list.ts';
import type { TestService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';
import { type Caller, openWebhookService } from '../fixtures/webhooks/webhook-service.ts';

type Entry = { id: string; status: string; attempt: number };

/** Reads a webhook's log and state over the API, and waits for changes. */
function watch({ call }: Caller, path: string) {
  const count = async (status: string) =>
    ((await call('GET', `${path}/deliveries?status=${status}&limit=100`)).json.data as Entry[]).length;
  return {
    count,
    failed: (wanted: number) => until(`${wanted} failed attempts`, async () => (await count('failed')) >= wanted),
    state: async () => (await call('GET', path)).json,
  };
}

test('ten failures disable a webhook only if they span the minimum time; deliveries are dropped, events are kept, enabling resets the count', async () => {
  let status = 500;
  await using receiver = await openReceiver({ reply: () => ({ status }) });
  await using environment = await openWebhookService([receiver.port], {
    WEBHOOK_RETRY_DELAYS: '0,3600,3600,3600',
    WEBHOOK_DISABLE_SECONDS: '3600',
  });
  const node = await environment.start('api,deliverer');
  const caller = await environment.caller(node);
  const { call, emit } = caller;
  const hook = await caller.webhook(receiver.url);
  const { count, failed, state } = watch(caller, hook.path);

  // A success resets the count of failures: nine failures, a success, ten failures.
  for (let sent = 1; sent <= 9; sent++) {
    await emit();
    await failed(sent);
  }
  const afterNine = await state();
  status = 200;
  await emit();
  await until('a success', async () => (await count('succeeded')) === 1);
  const afterSuccess = await state();
  status = 500;
  for (let sent = 10; sent <= 19; sent++) {
    await emit();
    await failed(sent);
  }
  const afterTen = await state();
  // The streak is an hour older than it was.
  await environment.db.run({ text: `update webhooks set failing_since = failing_since - interval '1 hour'` });
  await emit();
  await failed(20);
  const disabled = await until('the webhook to be disabled', async () => {
    const now = await state();
    return now.active ? null : now;
  });
  await until('what waits to be dropped', async () => (await count('dropped')) === 20);
  const missed = await emit();
  const metrics = await (await fetch(`${node.baseUrl}/metrics`)).text();

  assert.deepEqual([afterNine.active, afterNine.consecutive_failures], [true, 9]);
  assert.deepEqual([afterSuccess.consecutive_failures, afterSuccess.failing_since], [0, null]);
  assert.deepEqual([afterTen.active, afterTen.consecutive_failures], [true, 10]);
  assert.deepEqual([disabled.disabled_reason, disabled.consecutive_failures], ['consecutive_failures', 11]);
  assert.ok(Date.parse(disabled.disabled_at) - Date.parse(disabled.failing_since) >= 3_600_000);
  assert.equal(await count('pending'), 0);
  assert.deepEqual((await call('GET', `/v1/events/${missed}`)).json.deliveries, []);
  // At 5, 7 and 9 of each streak.
  assert.equal(node.logText().split('"webhook keeps failing and will be disabled"').length - 1, 6);
  assert.match(metrics, /^verbatim_webhook_failure_warnings_total(\{[^}]*\})? 6$/m);
  assert.match(metrics, /^verbatim_webhooks_disabled_total(\{[^}]*\})? 1$/m);
  assert.match(metrics, /^verbatim_deliveries_exhausted_total(\{[^}]*\})? \d+$/m);

  status = 200;
  const anew = (await call('PATCH', hook.path, { active: true })).json;
  const recovered = (await call('POST', `${hook.path}/recover`, { since: '2026-01-01T00:00:00Z' })).json;
  await until('what was missed', async () => (await count('succeeded')) === 22);

  assert.deepEqual([anew.consecutive_failures, anew.failing_since, anew.disabled_reason], [0, null, null]);
  assert.deepEqual(recovered, { events: 21 });
  assert.equal(new Set(receiver.requests.map(({ headers }) => headers['x-service-event-id'])).size, 22);
});

test('with two nodes that are killed, each attempt counts once, and no attempt is lost', async () => {
  const EVENTS = 40;
  await using receiver = await openReceiver({ reply: () => ({ status: 500 }) });
  await using environment = await openWebhookService([receiver.port], {
    WEBHOOK_RETRY_DELAYS: '0,0.3,0.3,0.3',
    WEBHOOK_DISABLE_FAILURES: '1000',
  });
  const [first, second] = await Promise.all([environment.start('api,deliverer'), environment.start('deliverer')]);
  const caller = await environment.caller(first);
  const hook = await caller.webhook(receiver.url);
  const emitted = await Promise.all(Array.from({ length: EVENTS }, () => caller.emit()));

  for (const [node, requests] of [
    [first, 10],
    [second, 30],
    [first, 60],
  ] as const) {
    await receiver.waitFor(requests);
    await killDeliverer(node);
    // Takes the shards from running processes too: their attempts are repeated, and their results are rejected.
    await environment.db.run({
      text: `with ended as (delete from deliverers) update delivery_shards set owner = null, epoch = epoch + 1`,
    });
  }
  const attempts = await until('every attempt', async () => {
    const made = await environment.db.rows<{ id: string; eventId: string; attempt: number; status: string }>({
      text: 'select id, event_id as "eventId", attempt, status from attempts',
    });
    return made.length >= 4 * EVENTS ? made : null;
  });
  const { consecutive_failures, active } = (await caller.call('GET', hook.path)).json;

  assert.deepEqual(
    attempts.map(({ eventId, attempt, status }) => `${eventId} ${attempt} ${status}`).sort(),
    emitted.flatMap((id) => [1, 2, 3, 4].map((attempt) => `${id} ${attempt} failed`)).sort(),
  );
  assert.deepEqual([consecutive_failures, active], [4 * EVENTS, true]);
  // Each of three kills, and each of three losses of all shards, repeats an attempt at most once.
  const received = Map.groupBy(receiver.requests, ({ headers }) => headers['x-service-delivery-id']);
  assert.ok(Math.max(...[...received.values()].map(({ length }) => length)) <= 7);
});

async function killDeliverer(node: TestService): Promise<void> {
  const find = () => descendantsOf(node.pid).find(({ arguments: args }) => args.includes('deliverer'));
  const { pid } = find()!;
  process.kill(pid, 'SIGKILL');
  await until('another deliverer', () => {
    const found = find();
    return found && found.pid !== pid;
  });
}
