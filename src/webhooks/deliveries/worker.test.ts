import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openDeliverers } from '../../../test/fixtures/webhooks/deliverer.ts';
import { secretBox } from '../../../test/fixtures/webhooks/delivery.ts';
import { openHostileReceiver } from '../../../test/fixtures/webhooks/hostile-receiver.ts';
import { openReceiver } from '../../../test/fixtures/webhooks/receiver.ts';
import type { Database, Statement } from '../../db/database.ts';
import { type Clock, systemClock } from '../../platform/clock.ts';
import { openMetrics } from '../../platform/metrics.ts';
import { endDeliverers } from '../ownership/ownership-store.ts';
import { makeWebhookSecret } from '../secrets/secrets.ts';
import { dropWaitingOfJob } from './drop-store.ts';

test('an event is delivered at once, with signatures that the SDK and the Standard Webhooks libraries accept', async () => {
  await using environment = await openDeliverers();
  const deliverer = await environment.start();

  const eventId = await environment.fixture.emit(environment.account);
  const request = await environment.receiver.waitFor(1);
  const [attempt] = await environment.settled(1);
  await deliverer.stop();

  const { headers, body } = request;
  const event = verifyDelivery({ secret: environment.webhook.secret, headers, body });
  assert.equal(event.id, eventId);
  assert.match(body.toString(), /"metadata":\{"order": 12345678901234567890\}/);
  new StandardWebhook(environment.webhook.secret).verify(body, headers as Record<string, string>);
  new SvixWebhook(environment.webhook.secret).verify(body.toString(), headers as Record<string, string>);
  assert.throws(() => new StandardWebhook(makeWebhookSecret()).verify(body, headers as Record<string, string>));
  assert.equal(headers['content-type'], 'application/json');
  assert.match(headers['user-agent'] ?? '', /^Verbatim\/\d+\.\d+\.\d+$/);
  assert.equal(headers['x-service-event-type'], 'transcription.completed');
  assert.equal(headers['x-service-event-id'], eventId);
  assert.equal(headers['x-service-delivery-id'], attempt!['id']);
  assert.equal(headers['x-service-attempt'], '1');
  assert.equal(attempt!['status'], 'succeeded');
  assert.equal(String(attempt!['request_headers']).includes(environment.webhook.secret), false);
});

test('a failing receiver gets four attempts with the same body, each with its own id, number, time and signature', async () => {
  await using environment = await openDeliverers({ reply: () => ({ status: 500, body: 'no' }) });
  const deliverer = await environment.start();

  await environment.fixture.emit(environment.account);
  const attempts = await environment.settled(4);
  await deliverer.stop();

  const { requests } = environment.receiver;
  assert.deepEqual(
    attempts.map((attempt) => [
      attempt['attempt'],
      attempt['status'],
      attempt['error_reason'],
      attempt['response_status'],
    ]),
    [1, 2, 3, 4].map((number) => [number, 'failed', 'http_status', 500]),
  );
  assert.deepEqual(environment.sent('x-service-attempt'), ['1', '2', '3', '4']);
  assert.equal(new Set(requests.map((request) => request.body.toString())).size, 1);
  assert.equal(new Set(environment.sent('x-service-delivery-id')).size, 4);
  assert.equal(new Set(environment.sent('x-service-event-id')).size, 1);
  for (const { headers, body } of requests) verifyDelivery({ secret: environment.webhook.secret, headers, body });
  assert.deepEqual(await environment.states(), ['exhausted']);
  assert.equal((await environment.fixture.webhookState(environment.webhook.id)).failures, 4);
});

test('a retry that is due soon starts at its time, without another read', async () => {
  await using environment = await openDeliverers(
    { reply: () => ({ status: 500, body: 'no' }) },
    { webhookRetryDelaysMs: [0, 200, 200, 200] },
  );
  // The poll of each second never comes.
  const sleep: Clock['sleep'] = (ms, signal) =>
    ms < 300
      ? systemClock.sleep(ms, signal)
      : new Promise((resolve) => signal?.addEventListener('abort', () => resolve()));
  const deliverer = await environment.start([], { clock: { ...systemClock, sleep } });

  await environment.fixture.emit(environment.account);
  const attempts = await environment.settled(4);
  await deliverer.stop();

  assert.deepEqual(
    attempts.map((attempt) => attempt['attempt']),
    [1, 2, 3, 4],
  );
});

test('a success after failures ends the delivery and the streak', async () => {
  await using environment = await openDeliverers({ reply: (_request, index) => ({ status: index < 2 ? 503 : 200 }) });
  const deliverer = await environment.start();

  await environment.fixture.emit(environment.account);
  const attempts = await environment.settled(3);
  await deliverer.stop();

  assert.equal(attempts.map((attempt) => attempt['status']).join(), 'failed,failed,succeeded');
  assert.deepEqual(await environment.states(), ['succeeded']);
  assert.equal((await environment.fixture.webhookState(environment.webhook.id)).failures, 0);
});

test('a webhook that fails too often is disabled, and its waiting deliveries are dropped', async () => {
  const bounds = { webhookDisableFailures: 3, webhookDisableMs: 0, webhookRetryDelaysMs: [0, 60_000, 60_000, 60_000] };
  await using environment = await openDeliverers({ reply: () => ({ status: 500 }) }, bounds);
  for (let i = 0; i < 3; i++) await environment.fixture.emit(environment.account);

  const deliverer = await environment.start();
  await environment.settled(6);
  await deliverer.stop();
  await environment.fixture.emit(environment.account);

  const state = await environment.fixture.webhookState(environment.webhook.id);
  assert.deepEqual([state.active, state.reason, state.failures], [false, 'consecutive_failures', 3]);
  const attempts = await environment.fixture.attempts();
  assert.deepEqual(attempts.map((attempt) => attempt['status']).sort(), [
    ...Array(3).fill('dropped'),
    ...Array(3).fill('failed'),
  ]);
  assert.ok((await environment.states()).every((state) => state === 'dropped'));
});

test('during the overlap of a rotation both secrets sign; afterwards only the new one', async () => {
  await using environment = await openDeliverers();
  const fresh = makeWebhookSecret();
  const { webhook, fixture } = environment;
  const rotate = (endsAt: Date) =>
    fixture.db.run({
      text: 'update webhooks set secret = $1, previous_secret = $2, previous_secret_ends_at = $3',
      values: [secretBox.seal(webhook.id, fresh), secretBox.seal(webhook.id, webhook.secret), endsAt],
    });
  // A deliverer of its own for each: one may use settings for a second.
  const sendNext = async (count: number) => {
    const deliverer = await environment.start();
    await fixture.emit(environment.account);
    const request = await environment.receiver.waitFor(count);
    await deliverer.stop();
    return request;
  };

  await rotate(new Date(Date.now() + 60_000));
  const during = await sendNext(1);
  await rotate(new Date(Date.now() - 1));
  const after = await sendNext(2);

  for (const secret of [fresh, webhook.secret]) {
    verifyDelivery({ secret, headers: during.headers, body: during.body });
    new StandardWebhook(secret).verify(during.body, during.headers as Record<string, string>);
  }
  verifyDelivery({ secret: fresh, headers: after.headers, body: after.body });
  assert.equal(after.headers['x-service-signature-previous'], undefined);
  assert.throws(() => verifyDelivery({ secret: webhook.secret, headers: after.headers, body: after.body }));
});

test('two deliverers together put at most 16 attempts of a webhook in flight', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => response.promise }, { webhookTimeoutMs: 5_000 });
  for (let i = 0; i < 50; i++) await environment.fixture.emit(environment.account);

  const deliverers = await Promise.all([environment.start(), environment.start()]);
  await environment.receiver.waitFor(16);
  response.resolve({ status: 200 });
  await environment.settled(50);
  await Promise.all(deliverers.map((deliverer) => deliverer.stop()));

  assert.equal(environment.receiver.requests.length, 50);
  assert.equal(environment.receiver.mostAtOnce(), 16);
});

test('a receiver that hangs does not delay others', async () => {
  await using hanging = await openHostileReceiver('hang');
  await using environment = await openDeliverers({}, { webhookTimeoutMs: 4_000 });
  await environment.fixture.webhook(environment.account, hanging.url);
  for (let i = 0; i < 20; i++) await environment.fixture.emit(environment.account);

  const deliverer = await environment.start([hanging.port]);
  await environment.receiver.waitFor(20);
  const hungBefore = (await environment.fixture.attempts()).filter((attempt) => attempt['status'] === 'failed').length;
  await deliverer.stop();

  assert.equal(hungBefore, 0);
});

test('an attempt whose DNS lookup cannot start is handed back, neither logged nor counted', async () => {
  await using environment = await openDeliverers();
  const { fixture, account } = environment;
  const names = Array.from({ length: 9 }, (_, index) => `w${index}.example.org`);
  for (const name of names) await fixture.webhook(account, `https://${name}/`);
  await fixture.emit(account);

  const deliverer = await environment.start([], {
    lookup: () => new Promise(() => undefined),
    askNameServers: async () => true,
  });
  const attempts = await until('8 names that hang', async () => {
    const failed = (await fixture.attempts()).filter((attempt) => attempt['error_reason'] === 'dns');
    return failed.length >= 8 ? failed : null;
  });
  const refused = names.find((name) => !attempts.some((attempt) => attempt['url'] === `https://${name}/`));
  const isHandedBack = async () => {
    const waiting = await fixture.db.rows<{ attempt: number; failures: number }>({
      text: `select d.attempt, w.consecutive_failures as failures
        from deliveries d join webhooks w on w.id = d.webhook_id
        where w.url = $1`,
      values: [`https://${refused}/`],
    });
    return waiting[0] ?? null;
  };
  const state = await until('the ninth to be handed back', isHandedBack);
  await deliverer.stop();

  assert.deepEqual(state, { attempt: 1, failures: 0 });
  assert.equal((await fixture.attempts()).filter((attempt) => attempt['url'] === `https://${refused}/`).length, 0);
});

test('deliveries whose secret cannot be opened wait, with one line in the log, until the secret changes', async () => {
  await using environment = await openDeliverers();
  const { fixture, webhook, account } = environment;
  const lines: string[] = [];
  const log = pino({ level: 'error' }, { write: (line: string) => void lines.push(line) });
  const setSecret = (secret: Buffer) => fixture.db.run({ text: 'update webhooks set secret = $1', values: [secret] });
  await setSecret(Buffer.from('sealed with another key'));
  for (let i = 0; i < 3; i++) await fixture.emit(account);

  const deliverer = await environment.start([], { log });
  await until('3 deliveries to be held back', async () => {
    const held = await fixture.db.rows({ text: `select id from deliveries where next_at > now() + interval '30 s'` });
    return held.length === 3;
  });
  await setSecret(secretBox.seal(webhook.id, webhook.secret));
  await fixture.db.run({ text: 'update deliveries set next_at = now()', values: [] });
  await environment.receiver.waitFor(3);
  await deliverer.stop();

  assert.equal(lines.length, 1, lines.join(''));
  assert.match(lines[0]!, /secret of a webhook cannot be opened/);
  assert.deepEqual(environment.sent('x-service-attempt'), ['1', '1', '1']);
});

test('a previous secret that cannot be opened does not delay deliveries', async () => {
  await using environment = await openDeliverers();
  const { fixture, webhook } = environment;
  await fixture.db.run({
    text: `update webhooks set previous_secret = $1, previous_secret_ends_at = now() + interval '1 h'`,
    values: [Buffer.from('sealed with another key')],
  });
  await fixture.emit(environment.account);

  const deliverer = await environment.start();
  const { headers, body } = await environment.receiver.waitFor(1);
  await deliverer.stop();

  verifyDelivery({ secret: webhook.secret, headers, body });
  assert.equal(headers['x-service-signature-previous'], undefined);
});

test('the log has one line of level info per failed attempt, and successes at level debug', async () => {
  const levels = { info: [] as string[], debug: [] as string[] };
  for (const level of ['info', 'debug'] as const) {
    await using environment = await openDeliverers({
      reply: (_request, index) => ({ status: index < 2 ? 503 : 200 }),
    });
    const log = pino({ level }, { write: (line: string) => void levels[level].push(JSON.parse(line).outcome) });
    const deliverer = await environment.start([], { log });
    await environment.fixture.emit(environment.account);
    await environment.settled(3);
    await deliverer.stop();
  }

  assert.deepEqual(levels.info, ['failed', 'failed']);
  assert.deepEqual(levels.debug, ['failed', 'failed', 'succeeded']);
});

test('stop waits for the attempts in progress and records them', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => response.promise });
  await environment.fixture.emit(environment.account);

  const deliverer = await environment.start();
  await environment.receiver.waitFor(1);
  const stopped = deliverer.stop();
  response.resolve({ status: 200 });
  await stopped;

  assert.deepEqual(await environment.states(), ['succeeded']);
});

/** A clock that a test stops, as if the process were frozen, or sets forward. */
function adjustableClock() {
  const adjusted = { aheadMs: 0, monotonicMs: () => performance.now() + adjusted.aheadMs };
  return adjusted;
}

test('a process that wakes after its lease starts nothing, and its results are not recorded', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({
    reply: (_request, index) => (index === 0 ? response.promise : { status: 200 }),
  });
  const { fixture, account, receiver } = environment;
  const deliverer = await environment.start([], { holder: 'frozen/1' });
  await fixture.emit(account);
  await receiver.waitFor(1);

  // What others do when the lease has ended.
  await endDeliverers(fixture.db, 'frozen/1');
  const other = await environment.start([], { holder: 'other/1' });
  await receiver.waitFor(2);
  const [recorded] = await environment.settled(1);
  response.resolve({ status: 500 });
  await Promise.all([deliverer.stop(), other.stop()]);

  assert.equal(recorded!['status'], 'succeeded');
  assert.equal((await fixture.attempts()).length, 1);
  assert.deepEqual(environment.sent('x-service-attempt'), ['1', '1']);
  assert.equal(new Set(environment.sent('x-service-event-id')).size, 1);
  assert.equal((await fixture.webhookState(environment.webhook.id)).failures, 0);
});

test('no attempt starts when the last heartbeat was sent more than 8 s ago', async () => {
  await using environment = await openDeliverers();
  const { fixture, account, receiver } = environment;
  const clock = adjustableClock();
  const wall = { aheadMs: 0 };
  const deliverer = await environment.start([], {
    monotonicMs: clock.monotonicMs,
    clock: { ...systemClock, now: () => Date.now() + wall.aheadMs },
  });
  await fixture.emit(account);
  await receiver.waitFor(1);

  // The heartbeats fail from now on.
  await fixture.db.run({ text: 'alter table deliverers rename to deliverers_away' });
  wall.aheadMs = 8_000;
  await fixture.emit(account);
  await until('the delivery to be due for two polls', async () => {
    const text = `select id from deliveries where next_at < clock_timestamp() - interval '2 s'`;
    return (await fixture.db.rows({ text })).length === 1;
  });
  const whileCutOff = receiver.requests.length;
  await fixture.db.run({ text: 'alter table deliverers_away rename to deliverers' });
  await receiver.waitFor(2);
  await deliverer.stop();

  assert.equal(whileCutOff, 1);
});

test('a delivery that was committed long after it was due is found by the search of all webhooks', async () => {
  await using environment = await openDeliverers();
  const { fixture, account, receiver } = environment;
  const clock = adjustableClock();
  const metrics = openMetrics();
  const deliverer = await environment.start([], { monotonicMs: clock.monotonicMs, metrics });
  await fixture.emit(account);
  await receiver.waitFor(1);

  // The first of them may be found by the search that follows the taking of the shards.
  await until('a delivery to be found late', async () => {
    await fixture.emit(account, { now: new Date(Date.now() - 30_000) });
    clock.aheadMs += 61_000;
    await receiver.waitFor(receiver.requests.length + 1);
    const { values } = await metrics.deliveriesFoundLate.get();
    return (values[0]?.value ?? 0) > 0;
  });
  await deliverer.stop();

  assert.deepEqual(
    await environment.states(),
    environment.sent('x-service-attempt').map(() => 'succeeded'),
  );
});

test('more deliveries than one read brings are all sent, each once', async () => {
  await using environment = await openDeliverers({}, { webhookTimeoutMs: 5_000 });
  const { fixture, account, receiver } = environment;
  await fixture.webhook(account, receiver.url);
  await Promise.all(Array.from({ length: 200 }, () => fixture.emit(account)));

  const deliverer = await environment.start();
  await environment.settled(400);
  await deliverer.stop();

  const sent = receiver.requests.map(({ headers }) => headers['x-service-delivery-id']);
  assert.deepEqual([sent.length, new Set(sent).size], [400, 400]);
});

test('a batch whose answer was lost is recorded once', async () => {
  await using environment = await openDeliverers({
    reply: (_request, index) => ({ status: index === 1 ? 500 : 200 }),
  });
  const { fixture, account } = environment;
  const lost = new Set<string>();
  const db: Database = {
    ...fixture.db,
    async rows<Row>(statement: Statement) {
      const rows = await fixture.db.rows<Row>(statement);
      return statement.name === 'finish-successes' && rows.length > 0 ? loseFirst('successes', rows) : rows;
    },
    transaction: async (work) => loseFirst('transaction', await fixture.db.transaction(work)),
  };
  const loseFirst = <Answer>(name: string, answer: Answer): Answer => {
    if (lost.has(name)) return answer;
    lost.add(name);
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  };
  const deliverer = await environment.start([], { db });

  for (let events = 1; events <= 3; events++) {
    await fixture.emit(account);
    await until('the end of the delivery', async () => (await environment.states()).every((one) => one !== 'waiting'));
  }
  const attempts = (await fixture.attempts()).map((attempt) => `${attempt['attempt']} ${attempt['status']}`);
  await deliverer.stop();

  assert.deepEqual([...lost].sort(), ['successes', 'transaction']);
  assert.deepEqual(attempts, ['1 succeeded', '1 failed', '2 succeeded', '1 succeeded']);
  assert.equal(environment.receiver.requests.length, attempts.length);
});

test('what becomes due while nothing can be recorded starts afterwards, and no timer runs meanwhile', async () => {
  await using environment = await openDeliverers();
  const { fixture, account, receiver } = environment;
  const [tries, shortSleeps] = [{ failed: 0, fails: true }, { count: 0 }];
  const breaks = () => {
    tries.failed++;
    throw Object.assign(new Error('Connection terminated unexpectedly'), { code: '08006' });
  };
  const db: Database = {
    ...fixture.db,
    async rows<Row>(statement: Statement) {
      if (!tries.fails || !statement.name?.startsWith('finish-')) return await fixture.db.rows<Row>(statement);
      return breaks();
    },
    transaction: async (work, options) => (tries.fails ? breaks() : await fixture.db.transaction(work, options)),
  };
  const clock: Clock = {
    ...systemClock,
    sleep(ms, signal) {
      if (ms <= 1) shortSleeps.count++;
      return systemClock.sleep(ms, signal);
    },
  };
  const deliverer = await environment.start([], { db, clock });
  await fixture.emit(account);
  await receiver.waitFor(1);

  await fixture.emit(account, { now: new Date(Date.now() + 200) });
  await until('the record to fail for a while', async () => tries.failed >= 8);
  const whileAway = { requests: receiver.requests.length, shortSleeps: shortSleeps.count };
  tries.fails = false;
  await receiver.waitFor(2);
  await deliverer.stop();

  assert.equal(whileAway.requests, 1);
  // There is one about every second, and without the rule one in every millisecond.
  assert.ok(whileAway.shortSleeps < 50, `${whileAway.shortSleeps} timers of a millisecond`);
});

test('waiting deliveries of a webhook that is disabled or deleted are dropped by the deliverer, also those in memory', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => response.promise }, { webhookTimeoutMs: 10_000 });
  const { fixture, account, receiver, webhook } = environment;
  const gone = await fixture.webhook(account, receiver.url);
  const deliverer = await environment.start();
  for (let i = 0; i < 20; i++) await fixture.emit(account);
  await receiver.waitFor(32);

  await fixture.db.run({
    text: `update webhooks set active = false, disabled_reason = 'manual', disabled_at = now() where id = $1`,
    values: [webhook.id],
  });
  await fixture.db.run({ text: 'delete from webhooks where id = $1', values: [gone.id] });
  for (const id of [webhook.id, gone.id]) fixture.db.notify('webhook_changed', id);
  await environment.settled(8);
  response.resolve({ status: 500 });
  const attempts = await environment.settled(8 + 32 + 32);
  await deliverer.stop();

  const count = (status: string) => attempts.filter((attempt) => attempt['status'] === status).length;
  assert.deepEqual([count('failed'), count('dropped')], [32, 8 + 32]);
  assert.equal(receiver.requests.length, 32);
});

test('deliveries in flight whose results are not recorded are dropped later, when their webhook was deleted meanwhile', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => response.promise }, { webhookTimeoutMs: 20_000 });
  const { fixture, account, receiver, webhook } = environment;
  const clock = adjustableClock();
  // Due for longer than a read looks back.
  const now = new Date(Date.now() - 30_000);
  for (let i = 0; i < 17; i++) await fixture.emit(account, { now });
  // Heartbeats follow each other quickly, so that the deliverer keeps its shards while the time passes quickly.
  const quickClock = {
    ...systemClock,
    sleep: (ms: number, signal?: AbortSignal) => systemClock.sleep(Math.min(5, ms), signal),
  };
  const deliverer = await environment.start([], {
    holder: 'only/1',
    clock: quickClock,
    monotonicMs: clock.monotonicMs,
  });
  await receiver.waitFor(16);

  // The deliverer loses its shards, and takes them again. Results of attempts from before are refused.
  await endDeliverers(fixture.db, 'only/1');
  const text = `select from delivery_shards where starts_with(owner, 'only/1')`;
  await until('the shards to be taken again', async () => (await fixture.db.rows({ text })).length > 0);
  await fixture.db.run({ text: 'delete from webhooks where id = $1', values: [webhook.id] });
  fixture.db.notify('webhook_changed', webhook.id);
  await environment.settled(1);
  response.resolve({ status: 500 });
  await until('a search after the end of the attempts', async () => {
    clock.aheadMs += 2_000;
    return (await fixture.attempts()).length === 17;
  });
  await deliverer.stop();

  assert.deepEqual(await environment.states(), Array(17).fill('dropped'));
  assert.equal(receiver.requests.length, 16);
});

for (const { title, isNotified } of [
  { title: 'an erased event is not sent from memory', isNotified: true },
  { title: 'an erased event is not sent 5 s after its read, though the notification was lost', isNotified: false },
]) {
  test(title, async () => {
    const response = Promise.withResolvers<{ status: number }>();
    await using environment = await openDeliverers({ reply: () => response.promise }, { webhookTimeoutMs: 10_000 });
    const { fixture, account, receiver } = environment;
    const clock = adjustableClock();
    for (let i = 0; i < 17; i++) await fixture.emit(account);
    // It reads all 17 at once.
    const deliverer = await environment.start([], { monotonicMs: clock.monotonicMs });
    await receiver.waitFor(16);
    const sent = new Set(environment.sent('x-service-event-id'));
    const [waiting] = (await fixture.due(account)).filter(({ delivery }) => !sent.has(delivery.eventId));
    const { eventId } = waiting!.delivery;
    const notified = Promise.withResolvers<string>();
    const unlisten = await fixture.db.listen('event_erased', (id) => id && notified.resolve(id));

    if (isNotified) {
      await fixture.db.run({ text: `update events set job_id = 'job_x' where id = $1`, values: [eventId] });
      await fixture.db.transaction((tx) => dropWaitingOfJob(tx, { shard: account.shard, jobId: 'job_x' }));
      await notified.promise;
    } else {
      await fixture.db.run({ text: 'delete from deliveries where event_id = $1', values: [eventId] });
      clock.aheadMs = 5_001;
    }
    await unlisten();
    // It starts after the erased one.
    const last = await fixture.emit(account);
    response.resolve({ status: 200 });
    await receiver.waitFor(17);
    await environment.settled(17);
    await deliverer.stop();

    const events = environment.sent('x-service-event-id');
    assert.deepEqual([events.includes(eventId), events.includes(last)], [false, true]);
  });
}

test('an attempt whose delivery is dropped while it is in flight is logged with its result, and not repeated', async () => {
  const response = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => response.promise }, { webhookTimeoutMs: 10_000 });
  const { fixture, account, receiver } = environment;
  const deliverer = await environment.start();
  const eventId = await fixture.emit(account);
  await receiver.waitFor(1);

  await fixture.db.run({ text: `update events set job_id = 'job_x' where id = $1`, values: [eventId] });
  await fixture.db.transaction((tx) => dropWaitingOfJob(tx, { shard: account.shard, jobId: 'job_x' }));
  response.resolve({ status: 500 });
  const [attempt] = await until('the result of the attempt in the log', async () => {
    const attempts = await fixture.attempts();
    return attempts[0]?.['status'] === 'dropped' ? null : attempts;
  });
  await deliverer.stop();

  assert.deepEqual([attempt!['status'], attempt!['response_status']], ['failed', 500]);
  assert.equal((await fixture.attempts()).length, 1);
  assert.equal(receiver.requests.length, 1);
});

test("large events of one account that hang leave memory for another account's", async () => {
  const hanging = Promise.withResolvers<{ status: number }>();
  await using environment = await openDeliverers({ reply: () => hanging.promise }, { webhookTimeoutMs: 30_000 });
  const { fixture, account, receiver } = environment;
  await using healthy = await openReceiver();
  for (let i = 0; i < 3; i++) await fixture.webhook(account, receiver.url);
  const other = await fixture.account();
  await fixture.webhook(other, healthy.url);
  for (let i = 0; i < 16; i++) await fixture.emit(account, { text: 'x'.repeat(900_000) });
  const deliverer = await environment.start([healthy.port]);
  await receiver.waitFor(25);
  await fixture.emit(other, { text: 'x'.repeat(900_000) });
  await healthy.waitFor(1);
  const hung = receiver.requests.length;
  hanging.resolve({ status: 204 });
  await environment.settled(65);
  await deliverer.stop();
  assert.deepEqual({ isBounded: hung <= 30, sent: receiver.requests.length }, { isBounded: true, sent: 64 });
});
