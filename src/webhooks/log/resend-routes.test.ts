import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { insertLogEntries, type LogEntry } from '../../../test/fixtures/webhooks/log-entries.ts';
import { openWebhookFixture } from '../../../test/fixtures/webhooks/webhook.ts';
import { resendRoutes } from './resend-routes.ts';

const UNKNOWN = `dlv_${'0'.repeat(26)}`;
const SINCE = '2020-01-01T00:00:00Z';

let environment: Awaited<ReturnType<typeof openWebhookFixture>>;
before(async () => {
  environment = await openWebhookFixture();
});
after(() => environment[Symbol.asyncDispose]());

/** A new account with a webhook, and functions that make events and log entries. */
async function openHook() {
  const { call, account } = await environment.caller();
  const { db } = environment.fixture;
  const { id: webhookId } = await environment.fixture.webhook(account);
  const path = `/v1/webhooks/${webhookId}`;
  /** An event whose deliveries have ended with these entries. */
  async function endedEvent(...entries: Partial<LogEntry>[]) {
    const eventId = await environment.fixture.emit(account);
    await db.run({ text: 'delete from deliveries where event_id = $1', values: [eventId] });
    const given = entries.map((entry, index) => ({ createdAtMs: Date.now() - 1_000 + index, eventId, ...entry }));
    return { eventId, ids: await insertLogEntries(db, { account, webhookId }, given) };
  }
  const waiting = async () => {
    const rows = await db.rows<{ eventId: string }>({
      text: 'select event_id as "eventId" from deliveries where webhook_id = $1 order by 1',
      values: [webhookId],
    });
    return rows.map(({ eventId }) => eventId);
  };
  const redeliver = (delivery_ids: unknown, more: Record<string, string> = {}) =>
    call('POST', `${path}/redeliver`, { delivery_ids }, more);
  const recover = (body: object) => call('POST', `${path}/recover`, { since: SINCE, ...body });
  return { account, call, webhookId, path, endedEvent, waiting, redeliver, recover };
}

const FAILED = { status: 'failed', reason: 'timeout' } as const;
const DROPPED = { status: 'dropped' } as const;

test('the events of several deliveries are sent again, each of them once', async () => {
  const hook = await openHook();
  const one = await hook.endedEvent(FAILED, { ...FAILED, attempt: 2 });
  const two = await hook.endedEvent({});
  await hook.endedEvent(FAILED);

  const answer = await hook.redeliver([...one.ids, ...two.ids, ...two.ids]);

  assert.deepEqual([answer.status, answer.json], [202, { events: 2 }]);
  assert.deepEqual(await hook.waiting(), [one.eventId, two.eventId].sort());
});

test('an entry that waits can be redelivered too', async () => {
  const hook = await openHook();
  const eventId = await environment.fixture.emit(hook.account);
  const [pending] = (await hook.call('GET', `${hook.path}/deliveries`)).json.data;

  const answer = await hook.redeliver([pending.id]);

  assert.deepEqual([answer.status, answer.json], [202, { events: 1 }]);
  assert.deepEqual(await hook.waiting(), [eventId, eventId]);
});

test('every request that sends again counts against the limit for that, and needs the scope to write', () => {
  const routes = resendRoutes(runtimeOn(environment.fixture.db));

  assert.equal(routes.length, 4);
  for (const { bucket, scope } of routes) assert.deepEqual([bucket, scope], ['resend', 'webhooks:write']);
});

test('when one delivery is unknown, nothing is sent', async () => {
  const hook = await openHook();
  const foreign = await openHook();
  const { ids } = await hook.endedEvent(FAILED);
  const { ids: others } = await foreign.endedEvent(FAILED);

  for (const id of [UNKNOWN, 'x', others[0]]) {
    const answer = await hook.redeliver([...ids, id]);
    assert.deepEqual([answer.status, answer.json.error.param], [404, 'delivery_ids']);
    assert.match(answer.json.error.message, /delivery_ids\[1\]/);
    assert.equal((await hook.redeliver([id])).status, 404);
  }
  assert.deepEqual(await hook.waiting(), []);
});

test('at most 100 deliveries are taken at once, and no other value', async () => {
  const hook = await openHook();

  for (const given of [[], Array(101).fill(UNKNOWN), 'x', [5], undefined]) {
    const answer = await hook.redeliver(given);
    assert.deepEqual([answer.status, answer.json.error.param], [400, 'delivery_ids']);
  }
});

test('100 deliveries are sent again in one request', async () => {
  const hook = await openHook();
  const ended = await Promise.all(Array.from({ length: 100 }, () => hook.endedEvent(FAILED)));

  const answer = await hook.redeliver(ended.flatMap(({ ids }) => ids));

  assert.deepEqual([answer.status, answer.json], [202, { events: 100 }]);
  assert.equal((await hook.waiting()).length, 100);
});

test('a repeated request with the same Idempotency-Key sends nothing twice', async () => {
  const hook = await openHook();
  const { eventId, ids } = await hook.endedEvent(FAILED);
  const send = () => hook.redeliver(ids, { 'idempotency-key': 'again' });

  const answers = [await send(), await send()];

  assert.deepEqual(
    answers.map(({ status, json }) => [status, json]),
    Array(2).fill([202, { events: 1 }]),
  );
  assert.deepEqual(await hook.waiting(), [eventId]);
});

test("neither a disabled webhook nor another account's is sent anything", async () => {
  const hook = await openHook();
  const stranger = await openHook();
  const { ids } = await hook.endedEvent(FAILED);

  const foreign = await stranger.call('POST', `${hook.path}/redeliver`, { delivery_ids: ids });
  await hook.call('PATCH', hook.path, { active: false });
  const disabled = await hook.redeliver(ids);

  assert.deepEqual([foreign.status, disabled.status], [404, 409]);
  assert.deepEqual(await hook.waiting(), []);
});

test('an event is sent to a webhook that it was never sent to, and again to one that accepted it', async () => {
  const hook = await openHook();
  const { eventId: accepted } = await hook.endedEvent({});
  const { eventId: never } = await hook.endedEvent();
  const resend = (id: string) => hook.call('POST', `/v1/events/${id}/resend`, { webhook_id: hook.webhookId });

  const answers = [await resend(accepted), await resend(never)];

  assert.deepEqual(
    answers.map(({ status, json }) => [status, json]),
    [accepted, never].map((event_id) => [202, { event_id }]),
  );
  assert.deepEqual(await hook.waiting(), [accepted, never].sort());
});

test("an event is not sent to a disabled webhook, nor to another account's, nor another account's event", async () => {
  const hook = await openHook();
  const stranger = await openHook();
  const { eventId } = await hook.endedEvent();
  const ofOther = await environment.fixture.emit({ id: stranger.account.id, shard: hook.account.shard });
  // The event goes to the stranger's webhook where both accounts are in one shard.
  const waiting = await stranger.waiting();
  const resend = (from: typeof hook, event: string, webhook_id: string) =>
    from.call('POST', `/v1/events/${event}/resend`, { webhook_id });

  const refused = [
    await resend(stranger, eventId, stranger.webhookId),
    await resend(hook, eventId, stranger.webhookId),
    await resend(hook, ofOther, hook.webhookId),
    await resend(hook, 'evt_none', hook.webhookId),
  ];
  await hook.call('PATCH', hook.path, { active: false });
  const disabled = await resend(hook, eventId, hook.webhookId);

  assert.deepEqual(
    refused.map(({ status }) => status),
    [404, 404, 404, 404],
  );
  assert.deepEqual([disabled.status, disabled.json.error.type], [409, 'conflict']);
  assert.deepEqual([await hook.waiting(), await stranger.waiting()], [[], waiting]);
});

/** Events of each kind: accepted, failed, dropped after a failure, never sent. */
async function openOutcomes() {
  const hook = await openHook();
  await hook.endedEvent(FAILED, { attempt: 2 });
  const failed = (await hook.endedEvent(FAILED, { ...FAILED, attempt: 2 })).eventId;
  const dropped = (await hook.endedEvent(FAILED, { ...DROPPED, attempt: 2 })).eventId;
  const never = (await hook.endedEvent()).eventId;
  return { ...hook, failed, dropped, never };
}

test('a dry run counts what a recovery would send, and sends nothing, also while the webhook is disabled', async () => {
  const { call, path, recover, waiting } = await openOutcomes();

  const counted = await recover({ dry_run: true });
  await call('PATCH', path, { active: false });
  const disabled = await recover({ dry_run: true });
  const refused = await recover({});
  await call('PATCH', path, { active: true });

  assert.deepEqual([counted.status, counted.json], [200, { events: 3 }]);
  assert.deepEqual([disabled.status, disabled.json, refused.status], [200, { events: 3 }, 409]);
  assert.deepEqual(await waiting(), []);
  const sent = await recover({ dry_run: false });
  assert.deepEqual([sent.status, sent.json], [202, { events: 3 }]);
  assert.equal((await waiting()).length, 3);
});

for (const status of ['failed', 'dropped', 'none'] as const) {
  test(`a recovery of the status ${status} sends only those events`, async () => {
    const { recover, waiting, ...events } = await openOutcomes();
    const expected = { failed: events.failed, dropped: events.dropped, none: events.never }[status];

    const counted = await recover({ status, dry_run: true });
    const sent = await recover({ status });

    assert.deepEqual([counted.json, sent.json], [{ events: 1 }, { events: 1 }]);
    assert.deepEqual(await waiting(), [expected]);
  });
}

test('a recovery of one type of event leaves out the others', async () => {
  const { recover, waiting } = await openOutcomes();

  const other = await recover({ event_type: 'transcription.failed' });
  const wanted = await recover({ event_type: 'transcription.completed', dry_run: true });

  assert.deepEqual([other.json, wanted.json], [{ events: 0 }, { events: 3 }]);
  assert.deepEqual(await waiting(), []);
});

test('a recovery takes a day for a time, and refuses unknown values by name', async () => {
  const { recover } = await openHook();
  assert.equal((await recover({ since: '2026-01-01', dry_run: true })).status, 200);
  const refused: [object, string][] = [
    [{ status: 'succeeded' }, 'status'],
    [{ event_type: 'job.done' }, 'event_type'],
    [{ dry_run: 'true' }, 'dry_run'],
    [{ since: 'yesterday' }, 'since'],
    [{ since: new Date(Date.now() + 60_000).toISOString() }, 'since'],
    [{ dry: true }, 'dry'],
  ];
  for (const [body, param] of refused) {
    const answer = await recover(body);
    assert.deepEqual([answer.status, answer.json.error.param], [400, param]);
  }
});
