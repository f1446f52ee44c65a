import assert from 'node:assert/strict';
import test from 'node:test';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { Scheduler } from './scheduler.ts';
import { MAX_TRANSIT_MS, SPAN_MS } from './start-rates.ts';
import type { Entry } from './webhook-queue.ts';
import type { StartSettings } from './webhook-settings.ts';

const NOW_MS = 1_000_000;
const HEALTHY: Omit<StartSettings, 'id' | 'shard'> = { isHealthy: true, state: 'active', maxPerSecond: null };
const DEGRADED = { ...HEALTHY, isHealthy: false };

function newScheduler(limits: ConstructorParameters<typeof Scheduler>[0] = {}) {
  const scheduler = new Scheduler<Entry>(limits);
  scheduler.addShard(0, NOW_MS - 10_000);
  let number = 0;
  /** Offers a row of a read of its own. */
  const offer = (webhookId: string, given: Partial<Entry> = {}, settings = HEALTHY) => {
    const id = `d${++number}`;
    const entry = { id, shard: 0, webhookId, eventId: `e${number}`, attempt: 1, attemptId: `a${number}` };
    const read = scheduler.beginRead();
    const result = scheduler.offer(
      { ...entry, nextAtMs: NOW_MS, ...given },
      { id: webhookId, shard: given.shard ?? 0, ...settings },
      read,
    );
    scheduler.endRead(read);
    return result;
  };
  const startAll = () => {
    const started: Entry[] = [];
    for (let entry = scheduler.next(NOW_MS); entry; entry = scheduler.next(NOW_MS)) started.push(entry);
    return started;
  };
  return { scheduler, offer, startAll };
}

test('with k webhooks ready, none waits for more than k starts', () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = randomFrom(seed);
    const { scheduler, offer } = newScheduler();
    const webhooks = Array.from({ length: 1 + random.integer(40) }, (_, index) => `w${index}`);
    // Each has something due at all times, and some have far more than others.
    const waiting = new Map(webhooks.map((id) => [id, 0]));
    const refill = (id: string) => {
      const wanted = id === 'w0' ? 60 : 1 + random.integer(3);
      for (; waiting.get(id)! < wanted; waiting.set(id, waiting.get(id)! + 1))
        offer(id, { attempt: 1 + random.integer(2), nextAtMs: NOW_MS - random.integer(100_000) });
    };
    const lastStart = new Map(webhooks.map((id) => [id, -1]));
    for (let start = 0; start < 500; start++) {
      webhooks.forEach(refill);
      const entry = scheduler.next(NOW_MS)!;
      assert.ok(start - lastStart.get(entry.webhookId)! <= webhooks.length, `seed ${seed}: ${entry.webhookId} waited`);
      lastStart.set(entry.webhookId, start);
      waiting.set(entry.webhookId, waiting.get(entry.webhookId)! - 1);
      scheduler.settled(entry.id, null, NOW_MS);
    }
  }
});

test('at most 16 attempts of a webhook are in flight, and an answer frees a place before it is recorded', () => {
  const { scheduler, offer, startAll } = newScheduler();
  for (let i = 0; i < 40; i++) offer('w1');

  const started = startAll();
  assert.equal(started.length, 16);
  assert.deepEqual(startAll(), []);

  scheduler.answered(started[3]!.id, NOW_MS);
  assert.equal(startAll().length, 1);
  assert.equal(scheduler.unsettledOf(0), 17);
  scheduler.settled(started[3]!.id, null, NOW_MS);
  assert.deepEqual(startAll(), []);
  assert.equal(scheduler.unsettledOf(0), 16);
});

test('nothing of a held shard starts, others start, and it goes on when it is released', () => {
  const { scheduler, offer, startAll } = newScheduler({ inFlightPerWebhook: 1 });
  scheduler.addShard(1, NOW_MS - 10_000);
  offer('w1');
  const [first] = startAll();
  scheduler.hold(0, true);
  for (const id of ['w1', 'w2']) offer(id);
  offer('w3', { shard: 1 });
  scheduler.answered(first!.id, NOW_MS);

  const others = startAll().map(({ webhookId }) => webhookId);
  scheduler.hold(0, false);
  const released = startAll().map(({ webhookId }) => webhookId);

  assert.deepEqual(others, ['w3']);
  assert.deepEqual(released.sort(), ['w1', 'w2']);
});

test('first attempts start before retries of the same webhook, each in the order of their times', () => {
  const { offer, startAll } = newScheduler();
  offer('w1', { id: 'retry-2', attempt: 3, nextAtMs: NOW_MS - 50 });
  offer('w1', { id: 'retry-1', attempt: 2, nextAtMs: NOW_MS - 60 });
  offer('w1', { id: 'first-2', nextAtMs: NOW_MS - 1 });
  offer('w1', { id: 'first-1', nextAtMs: NOW_MS - 2 });

  assert.deepEqual(
    startAll().map(({ id }) => id),
    ['first-1', 'first-2', 'retry-1', 'retry-2'],
  );
});

test('healthy webhooks start before degraded ones, which get every ninth start meanwhile', () => {
  const { scheduler, offer } = newScheduler({ inFlightPerWebhook: 1_000 });
  for (let i = 0; i < 60; i++) offer('degraded', {}, DEGRADED);
  for (let i = 0; i < 60; i++) offer('healthy');

  const order = Array.from({ length: 70 }, () => scheduler.next(NOW_MS)!.webhookId[0]).join('');
  assert.equal(order.slice(0, 27), 'hhhhhhhhd'.repeat(3));
  assert.equal(order.indexOf('dd') > 60, true);
});

test('attempts of degraded webhooks, and of all, have a bound', () => {
  const limits = { inFlight: 20, healthyOnlyFrom: 15, degradedInFlight: 5 };
  const { scheduler, offer, startAll } = newScheduler(limits);
  for (let i = 0; i < 10; i++) offer(`degraded-${i}`, {}, DEGRADED);
  const degraded = startAll();
  assert.equal(degraded.length, 5);

  for (let i = 0; i < 30; i++) offer(`healthy-${i}`);
  const healthy = startAll();
  assert.equal(healthy.length, 15);

  // From 15 in flight on, the place of a degraded one is for healthy webhooks.
  scheduler.answered(degraded[0]!.id, NOW_MS);
  assert.match(startAll()[0]!.webhookId, /^healthy/);
  for (const { id } of healthy.slice(0, 10)) scheduler.answered(id, NOW_MS);
  assert.equal(startAll().filter(({ webhookId }) => /^degraded/.test(webhookId)).length, 1);
});

test('nothing starts before it is due, and the time of the next is given', () => {
  const { scheduler, offer } = newScheduler();
  offer('w1', { nextAtMs: NOW_MS + 700 });
  offer('w2', { nextAtMs: NOW_MS + 300 });

  assert.equal(scheduler.next(NOW_MS), null);
  assert.equal(scheduler.nextDueAtMs(), NOW_MS + 300);
  assert.equal(scheduler.next(NOW_MS + 299), null);
  assert.equal(scheduler.next(NOW_MS + 300)?.webhookId, 'w2');
  assert.equal(scheduler.next(NOW_MS + 300), null);
  assert.equal(scheduler.nextDueAtMs(), NOW_MS + 700);
});

test('a known row is not taken twice, and a settled row not from an answer that is too old', () => {
  const { scheduler, offer, startAll } = newScheduler();
  const older = scheduler.beginRead();
  const row = { id: 'd', shard: 0, webhookId: 'w1', eventId: 'e', attempt: 1, attemptId: 'a', nextAtMs: NOW_MS };
  const settings = { id: 'w1', shard: 0, ...HEALTHY };
  assert.equal(offer('w1', row), 'taken');
  assert.equal(offer('w1', row), 'known');
  assert.equal(startAll().length, 1);
  assert.equal(offer('w1', row), 'known');
  scheduler.settled('d', null, NOW_MS);

  assert.equal(scheduler.offer(row, settings, older), 'stale');
  scheduler.endRead(older);
  assert.deepEqual(startAll(), []);
  assert.equal(offer('w1', { ...row, attemptId: 'b' }), 'taken');
});

test('a retry that is due soon waits in memory, a later one does not', () => {
  const { scheduler, offer, startAll } = newScheduler();
  offer('w1', { id: 'soon' });
  offer('w1', { id: 'later' });
  startAll();
  scheduler.settled('soon', { attempt: 2, attemptId: 'b', nextAtMs: NOW_MS + 900 }, NOW_MS);
  scheduler.settled('later', { attempt: 2, attemptId: 'c', nextAtMs: NOW_MS + 1_100 }, NOW_MS);

  assert.equal(scheduler.sizes().entries, 1);
  assert.equal(scheduler.next(NOW_MS + 900)?.attemptId, 'b');
});

test('a delivery whose start is put off waits in memory, however long its row has been due and its start is away', () => {
  const { scheduler, offer, startAll } = newScheduler();
  offer('w1', { id: 'd', nextAtMs: NOW_MS - 60_000 });
  startAll();

  scheduler.postponed('d', NOW_MS + 5_000, NOW_MS);

  assert.equal(scheduler.next(NOW_MS + 4_999), null);
  assert.equal(scheduler.next(NOW_MS + 5_000)?.id, 'd');
});

test('a delivery whose start is put off while memory is full is read again by the time of its row', () => {
  const { scheduler, offer, startAll } = newScheduler({ perWebhook: 1 });
  offer('w1', { id: 'old', nextAtMs: NOW_MS - 60_000 });
  startAll();
  offer('w1', { id: 'new', nextAtMs: NOW_MS });

  scheduler.postponed('old', NOW_MS + 2_000, NOW_MS);
  startAll();
  const [refill] = scheduler.refills(1, NOW_MS);

  assert.ok(refill!.fromMs < NOW_MS - 60_000);
});

test('a delivery whose start is put off while its account is suspended is read again when it is resumed', () => {
  const { scheduler, offer, startAll } = newScheduler();
  offer('w1', { id: 'd', nextAtMs: NOW_MS - 60_000 });
  startAll();
  const set = (state: 'active' | 'suspended') => {
    const read = scheduler.beginRead();
    scheduler.setWebhook({ id: 'w1', shard: 0, ...HEALTHY, state }, read);
    scheduler.endRead(read);
  };
  set('suspended');
  scheduler.postponed('d', NOW_MS + 1_000, NOW_MS);
  const before = scheduler.refills(1, NOW_MS);
  set('active');
  const [refill] = scheduler.refills(1, NOW_MS);

  assert.deepEqual(before, []);
  assert.ok(refill!.fromMs < NOW_MS - 60_000);
});

test('what waits for an inactive webhook never starts, and is read again when it is active', () => {
  const { scheduler, offer, startAll } = newScheduler();
  offer('w1');
  const read = scheduler.beginRead();
  scheduler.setWebhook({ id: 'w1', shard: 0, ...HEALTHY, state: 'inactive' }, read);

  assert.deepEqual(startAll(), []);
  assert.deepEqual(scheduler.refills(9, NOW_MS), []);
  scheduler.setWebhook({ id: 'w1', shard: 0, ...HEALTHY }, read);
  assert.equal(scheduler.refills(9, NOW_MS)[0]?.webhookId, 'w1');
  scheduler.endRead(read);
});

test('a row of an inactive webhook is refused, and leaves nothing in memory', () => {
  const { scheduler, offer } = newScheduler();

  assert.equal(offer('w1', {}, { ...HEALTHY, state: 'inactive' }), 'inactive');
  assert.equal(scheduler.sizes().webhooks, 0);
});

test('the enumeration spills a webhook whose first row is unknown, and no other', () => {
  const { scheduler, offer } = newScheduler();
  offer('w1', { id: 'known' });
  const read = scheduler.beginRead();
  const row = { shard: 0, eventId: 'e', nextAtMs: NOW_MS };

  assert.equal(scheduler.found({ ...row, id: 'known', webhookId: 'w1' }, read), false);
  assert.equal(scheduler.found({ ...row, id: 'missed', webhookId: 'w2' }, read), true);
  assert.equal(scheduler.found({ ...row, id: 'missed', webhookId: 'w2' }, read), false);
  assert.deepEqual(
    scheduler.refills(9, NOW_MS).map(({ webhookId }) => webhookId),
    ['w2'],
  );
  scheduler.endRead(read);
});

test('1,000,000 pending of one webhook and 5,000 webhooks with backlogs take at most 20,000 entries', () => {
  const scheduler = new Scheduler<Entry>();
  scheduler.addShard(0, NOW_MS - 10_000);
  const backlogs = new Map(Array.from({ length: 5_000 }, (_, index) => [`w${index}`, { first: 0, size: 12 }]));
  backlogs.set('w0', { first: 0, size: 1_000_000 });
  const row = (webhookId: string, number: number): Entry => {
    const id = `${webhookId}/${number}`;
    return { id, shard: 0, webhookId, eventId: id, attempt: 1, attemptId: id, nextAtMs: number / 1_000 };
  };
  const settled = new Set<string>();
  const settings = (id: string) => ({ id, shard: 0, ...HEALTHY });
  // All at once from the reader, as far as it reads.
  const read = scheduler.beginRead();
  for (let i = 0; i < 12; i++)
    for (const id of backlogs.keys()) {
      scheduler.offer(row(id, i), settings(id), read);
      assert.ok(scheduler.sizes().entries <= 20_000);
    }
  for (let i = 12; i < 10_000; i++) scheduler.offer(row('w0', i), settings('w0'), read);
  scheduler.endRead(read);

  const starts = new Map<string, number>();
  for (let round = 0; round < 12; round++) {
    for (const { read, webhookId, fromMs, limit, known } of scheduler.refills(5_000, NOW_MS)) {
      const backlog = backlogs.get(webhookId)!;
      const { size } = backlog;
      while (settled.has(`${webhookId}/${backlog.first}`)) backlog.first++;
      const rows: Entry[] = [];
      for (let i = Math.max(backlog.first, Math.ceil(fromMs * 1_000)); i < size && rows.length < limit; i++)
        if (!settled.has(`${webhookId}/${i}`) && !known.includes(`${webhookId}/${i}`)) rows.push(row(webhookId, i));
      scheduler.refilled(read, rows, settings(webhookId));
      assert.ok(scheduler.sizes().entries <= 20_000);
    }
    for (let entry = scheduler.next(NOW_MS); entry; entry = scheduler.next(NOW_MS)) {
      settled.add(entry.id);
      starts.set(entry.webhookId, (starts.get(entry.webhookId) ?? 0) + 1);
      scheduler.settled(entry.id, null, NOW_MS);
    }
  }
  // Everything of the small ones was sent meanwhile, and the large one had its part.
  for (const id of backlogs.keys()) assert.ok(starts.get(id)! >= 12, `${id} had ${starts.get(id)} starts`);
  assert.ok(starts.get('w0')! > 20 && starts.get('w0')! < 20_000);
});

test('a webhook with many rows of one time is refilled while its results wait to be recorded', () => {
  const { scheduler, offer } = newScheduler();
  const rows = Array.from({ length: 300 }, (_, index) => `same-${String(index).padStart(3, '0')}`);
  for (const id of rows) offer('w1', { id });

  const started = new Set<string>();
  for (let round = 0; round < 300; round++) {
    const entry = scheduler.next(NOW_MS);
    if (entry) scheduler.answered(entry.id, NOW_MS);
    if (entry) started.add(entry.id);
    for (const { read, limit, known } of scheduler.refills(1, NOW_MS)) {
      const row = { shard: 0, webhookId: 'w1', eventId: 'e', attempt: 1, attemptId: 'a', nextAtMs: NOW_MS };
      const unknown = rows.filter((id) => !known.includes(id));
      const answer = unknown.slice(0, limit).map((id) => ({ ...row, id }));
      scheduler.refilled(read, answer, { id: 'w1', shard: 0, ...HEALTHY });
    }
  }
  assert.equal(started.size, 300);
});

test('a refill of a recent range looks back for rows that were committed late, far back once per second', () => {
  const { scheduler, offer } = newScheduler({ perWebhook: 1 });
  const fromMs = (nowMs: number) => {
    const [refill] = scheduler.refills(1, nowMs);
    scheduler.endRead(refill!.read);
    return refill!.fromMs;
  };
  offer('w1', { nextAtMs: NOW_MS - 20_000 });
  offer('w1', { nextAtMs: NOW_MS });
  scheduler.next(NOW_MS);

  assert.equal(fromMs(NOW_MS), NOW_MS - 10_000);
  assert.equal(fromMs(NOW_MS + 10), NOW_MS - 250);
  assert.equal(fromMs(NOW_MS + 1_000), NOW_MS - 9_000);
  assert.equal(fromMs(NOW_MS + 20_000), NOW_MS - 1);
});

test('a healthy webhook is refilled before degraded ones, which get every ninth refill meanwhile', () => {
  const { scheduler } = newScheduler();
  for (let i = 0; i < 20; i++) scheduler.spill({ id: `degraded-${i}`, shard: 0 });
  for (let i = 0; i < 20; i++) scheduler.spill({ id: `healthy-${i}`, shard: 0, isHealthy: true });

  const order = scheduler.refills(40, NOW_MS).map(({ webhookId }) => webhookId.split('-')[0]);

  assert.deepEqual(order.slice(0, 20), [
    ...Array<string>(8).fill('healthy'),
    'degraded',
    ...Array<string>(8).fill('healthy'),
    'degraded',
    ...Array<string>(2).fill('healthy'),
  ]);
  assert.equal(order.filter((kind) => kind === 'degraded').length, 20);
});

test('a webhook that comes new gets space when others with backlogs hang and fill the memory', () => {
  const { scheduler, offer, startAll } = newScheduler();
  for (let webhook = 0; webhook < 600; webhook++)
    for (let i = 0; i < 80; i++) offer(`hanging-${webhook}`, {}, DEGRADED);
  assert.ok(scheduler.sizes().entries > 15_000 && scheduler.sizes().entries <= 20_000);
  startAll();

  for (let webhook = 0; webhook < 300; webhook++) offer(`new-${webhook}`);
  assert.equal(startAll().length, 300);
});

test('a read may leave out what is in memory of its shards, from a time on', () => {
  const { scheduler, offer, startAll } = newScheduler();
  for (const id of ['early', 'started', 'waiting']) offer('w1', { id, nextAtMs: id === 'early' ? 5 : NOW_MS });
  const ids = (shards: number[], limit = 10) => scheduler.known({ shards, fromMs: 6, limit });
  startAll();

  assert.deepEqual(ids([0]).toSorted(), ['started', 'waiting']);
  assert.deepEqual([ids([1]), ids([0], 1).length], [[], 1]);
  scheduler.settled('started', null, NOW_MS);
  assert.deepEqual(ids([0]), ['waiting']);
});

test('a read may leave out a webhook with a backlog while it has enough in memory, and must not while it is refilled', () => {
  const { scheduler, offer } = newScheduler({ perWebhook: 8, inFlightPerWebhook: 100 });
  for (let i = 0; i < 9; i++) offer('many', { nextAtMs: NOW_MS + i });
  for (let i = 0; i < 8; i++) offer('few', { nextAtMs: NOW_MS + i });
  assert.deepEqual(scheduler.backlogged(10), ['many']);
  assert.deepEqual(scheduler.backlogged(0), []);

  while (scheduler.next(NOW_MS + 8));
  assert.deepEqual(scheduler.backlogged(10), [], 'it runs low');
  const [refill] = scheduler.refills(1, NOW_MS);
  assert.equal(refill!.webhookId, 'many');
  assert.deepEqual(scheduler.backlogged(10), [], 'it is being refilled');
});

test('of 50 attempts of a webhook with a limit of 7 per second, 7 start at once and 7 in each second after', () => {
  const { scheduler, offer } = newScheduler({ inFlightPerWebhook: 100 });
  for (let i = 0; i < 50; i++) offer('w1', {}, { ...HEALTHY, maxPerSecond: 7 });

  const startsAtMs: number[] = [];
  for (let nowMs: number | null = NOW_MS; nowMs !== null; nowMs = scheduler.nextDueAtMs()) {
    for (let entry = scheduler.next(nowMs); entry; entry = scheduler.next(nowMs)) {
      startsAtMs.push(nowMs - NOW_MS);
      scheduler.sent(entry.id, nowMs);
      scheduler.answered(entry.id, nowMs);
    }
  }

  assert.deepEqual(
    startsAtMs,
    Array.from({ length: 50 }, (_, index) => SPAN_MS * Math.floor(index / 7)),
  );
});

test('a limit holds for the starts of any second, also when nothing is in memory in between', () => {
  const { scheduler, offer } = newScheduler();
  const limited = { ...HEALTHY, maxPerSecond: 2 };
  const startAt = (nowMs: number) => {
    offer('w1', {}, limited);
    const entry = scheduler.next(nowMs);
    if (entry) scheduler.sent(entry.id, nowMs);
    if (entry) scheduler.settled(entry.id, null, nowMs);
    return entry !== null;
  };

  assert.deepEqual(
    [0, 900, 950, SPAN_MS - 1, SPAN_MS, SPAN_MS + 100, SPAN_MS + 899, SPAN_MS + 900].map((ms) => startAt(NOW_MS + ms)),
    [true, true, false, false, true, false, false, true],
  );
});

test('what waits because of a limit keeps its attempt, and other webhooks start meanwhile', () => {
  const { scheduler, offer, startAll } = newScheduler();
  for (let i = 0; i < 3; i++) offer('limited', { id: `limited-${i}` }, { ...HEALTHY, maxPerSecond: 1 });
  for (let i = 0; i < 3; i++) offer('other');

  const started = startAll();
  assert.equal(started.filter(({ webhookId }) => webhookId === 'other').length, 3);
  assert.equal(scheduler.sizes().waiting, 2);
  for (const { id } of started) {
    scheduler.sent(id, NOW_MS);
    scheduler.answered(id, NOW_MS);
  }
  const later = scheduler.next(NOW_MS + SPAN_MS);
  assert.deepEqual([later?.id, later?.attempt], ['limited-1', 1]);
});

test('a changed limit is in force at once, and so is its removal', () => {
  const { scheduler, offer } = newScheduler();
  for (let i = 0; i < 9; i++) offer('w1', {}, { ...HEALTHY, maxPerSecond: 1 });
  const change = (maxPerSecond: number | null) => {
    const read = scheduler.beginRead();
    scheduler.setWebhook({ id: 'w1', shard: 0, ...HEALTHY, maxPerSecond }, read);
    scheduler.endRead(read);
  };
  const startsAt = (nowMs: number) => {
    let starts = 0;
    for (let entry = scheduler.next(nowMs); entry; entry = scheduler.next(nowMs)) {
      scheduler.sent(entry.id, nowMs);
      scheduler.answered(entry.id, nowMs);
      starts++;
    }
    return starts;
  };

  assert.equal(startsAt(NOW_MS), 1);
  change(3);
  assert.equal(startsAt(NOW_MS + 1), 2);
  change(1);
  assert.equal(startsAt(NOW_MS + SPAN_MS), 0);
  assert.equal(startsAt(NOW_MS + SPAN_MS + 1), 1);
  change(null);
  assert.equal(startsAt(NOW_MS + SPAN_MS + 2), 5);
});

test('after a shard was taken its webhooks with a limit wait for a second, in which the owner before may have started some', () => {
  const { scheduler, offer } = newScheduler();
  scheduler.addShard(0, NOW_MS);
  offer('limited', {}, { ...HEALTHY, maxPerSecond: 100 });
  offer('other');

  assert.equal(scheduler.next(NOW_MS)?.webhookId, 'other');
  assert.equal(scheduler.next(NOW_MS), null);
  assert.equal(scheduler.nextDueAtMs(), NOW_MS + SPAN_MS);
  assert.equal(scheduler.next(NOW_MS + SPAN_MS)?.webhookId, 'limited');
});

test('a clock that is set back makes a webhook with a limit wait for no more than a second', () => {
  const { scheduler, offer } = newScheduler();
  for (let i = 0; i < 3; i++) offer('w1', { nextAtMs: 0 }, { ...HEALTHY, maxPerSecond: 1 });
  const [earlierMs, second] = [NOW_MS - 500_000, SPAN_MS];

  const { id } = scheduler.next(NOW_MS)!;
  scheduler.sent(id, NOW_MS);
  scheduler.answered(id, NOW_MS);
  offer('w1', { nextAtMs: 0 }, { ...HEALTHY, maxPerSecond: 1 });
  assert.equal(scheduler.next(earlierMs), null);
  offer('w1', { nextAtMs: 0 }, { ...HEALTHY, maxPerSecond: 1 });
  assert.equal(scheduler.nextDueAtMs(), earlierMs + second);
  assert.ok(scheduler.next(earlierMs + second));
});

test('an attempt counts from its start until a second after its request has arrived, or its end without one', () => {
  const { scheduler, offer } = newScheduler();
  for (let i = 0; i < 6; i++) offer('w1', {}, { ...HEALTHY, maxPerSecond: 1 });
  const [first, sentMs] = [scheduler.next(NOW_MS)!, NOW_MS + 4_000];
  const nextAfter = (nowMs: number) => {
    assert.equal(scheduler.next(nowMs + SPAN_MS - 1), null);
    return scheduler.next(nowMs + SPAN_MS)!;
  };

  assert.deepEqual([scheduler.next(sentMs), scheduler.nextDueAtMs()], [null, null]);
  scheduler.sent(first.id, sentMs);
  scheduler.answered(first.id, sentMs + 20);
  const slow = nextAfter(sentMs + 20);
  scheduler.sent(slow.id, sentMs + 2_000);
  const unconnected = nextAfter(sentMs + 2_000 + MAX_TRANSIT_MS);
  scheduler.answered(unconnected.id, sentMs + 9_000);
  assert.ok(nextAfter(sentMs + 9_000));
});

test('a request on a connection that was found closed is repeated, and counts once more', () => {
  const { scheduler, offer } = newScheduler();
  for (let i = 0; i < 3; i++) offer('w1', {}, { ...HEALTHY, maxPerSecond: 1 });
  const { id } = scheduler.next(NOW_MS)!;
  scheduler.sent(id, NOW_MS);

  assert.equal(scheduler.mayRepeat(id, NOW_MS + 10), true);
  assert.equal(scheduler.next(NOW_MS + 3_000), null);
  scheduler.sent(id, NOW_MS + 3_000);
  const other = scheduler.next(NOW_MS + 6_000)!;
  scheduler.sent(other.id, NOW_MS + 6_000);
  assert.equal(scheduler.mayRepeat(id, NOW_MS + 6_000), false);
});
