import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { verifyDelivery } from '#sdk/webhooks/signature.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { type Attempt, Forwarder, type ForwarderOptions } from './forwarder.ts';
import { makeSecret } from './local-delivery.ts';
import type { Outcome, Post } from './post.ts';
import { readTargets } from './targets.ts';

const signing = { secret: makeSecret(), headerPrefix: 'X-Acme-' };
const answered = (status: number): Outcome => ({ kind: 'answered', status, headers: {}, body: '' });
const eventOf = (id: string) => ({ id, type: 'webhook.test', body: `{"id":"${id}","type":"webhook.test","data":{}}` });

function open(post: Post, more: Partial<ForwarderOptions> = {}) {
  const clock = openManualClock();
  const stop = new AbortController();
  const attempts: Attempt[] = [];
  const forwarder = new Forwarder({
    targets: readTargets('3000/hooks', []),
    signing,
    post,
    clock,
    random: () => 0.5,
    failShare: 0,
    retryDelaysMs: [],
    signal: stop.signal,
    onAttempt: (attempt: Attempt) => attempts.push(attempt),
    ...more,
  });
  const send = async (id: string) => (await forwarder.accept(eventOf(id))).ended;
  return { clock, stop, attempts, forwarder, send };
}

test('an event is sent with a fresh signature at each attempt, which a receiver verifies', async () => {
  const clock = openManualClock();
  const seen: string[] = [];
  const { attempts, send } = open(
    async (_url, { headers, body }) => {
      seen.push(
        verifyDelivery({ secret: signing.secret, headers, body, headerPrefix: 'X-Acme-', now: clock.now() }).id,
      );
      return answered(seen.length < 2 ? 503 : 204);
    },
    { clock, retryDelaysMs: [600_000] },
  );

  const ended = send('evt_1');
  await turnOfTheLoop();
  await clock.advance(600_000);
  await ended;

  assert.deepEqual(seen, ['evt_1', 'evt_1']);
  assert.deepEqual(
    attempts.map(({ attempt, retryInMs, request }) => [attempt, retryInMs, request.headers['X-Acme-Attempt']]),
    [
      [1, 600_000, '1'],
      [2, null, '2'],
    ],
  );
});

test('it is sent again only as often as wanted, after delays that vary by a tenth', async () => {
  const { clock, attempts, send } = open(async () => answered(500), { retryDelaysMs: [1_000, 2_000], random: () => 0 });

  const ended = send('evt_1');
  await turnOfTheLoop();
  await clock.advance(10_000);
  await ended;

  assert.deepEqual(
    attempts.map(({ retryInMs }) => retryInMs),
    [900, 1_800, null],
  );
});

test('a success and an event without a target end at once', async () => {
  const { attempts, forwarder, send } = open(async () => answered(299), { retryDelaysMs: [1_000] });
  await send('evt_1');
  const other = open(async () => assert.fail(), { targets: readTargets(undefined, []) });
  await other.send('evt_1');

  assert.deepEqual([attempts.length, other.attempts.length, typeof forwarder], [1, 0, 'object']);
});

test('at most 16 requests are under way, and an event that waits to be sent again is none of them', async () => {
  const [release, wait] = [Promise.withResolvers<void>(), { now: 0, most: 0 }];
  const { clock, send } = open(
    async () => {
      wait.most = Math.max(wait.most, ++wait.now);
      await release.promise;
      wait.now -= 1;
      return answered(500);
    },
    { retryDelaysMs: [60_000] },
  );

  const all = Array.from({ length: 40 }, (_, i) => send(`evt_${i}`));
  await turnOfTheLoop();
  assert.deepEqual([wait.now, wait.most], [16, 16]);
  release.resolve();
  await turnOfTheLoop();
  await clock.advance(60_000);
  await turnOfTheLoop();
  await Promise.all(all);

  assert.equal(wait.most, 16);
});

test('no more than 1,000 events are held: the next one waits', async () => {
  const { forwarder, stop } = open(async (_url, _request, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw signal.reason;
  });
  const held = await Promise.all(Array.from({ length: 1_000 }, (_, i) => forwarder.accept(eventOf(`evt_${i}`))));
  let isAccepted = false;

  const next = forwarder.accept(eventOf('evt_next')).finally(() => {
    isAccepted = true;
  });
  await turnOfTheLoop();

  assert.equal(isAccepted, false);
  stop.abort();
  await assert.rejects(next);
  const ends = await Promise.allSettled(held.map(({ ended }) => ended));
  assert.ok(ends.every(({ status }) => status === 'rejected'));
});

test('large events are held in a memory of 64 MB, and one that is larger than it is sent alone', async () => {
  const { forwarder, stop } = open(async (_url, _request, signal) => {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw signal.reason;
  });
  let accepted = 0;
  const accept = async (bytes: number) => {
    const { ended } = await forwarder.accept({ ...eventOf('evt_large'), body: ' '.repeat(bytes) });
    accepted += 1;
    await ended.catch(() => undefined);
  };

  const all = Array.from({ length: 100 }, () => accept(2 ** 20));
  await turnOfTheLoop();

  assert.equal(accepted, 62);
  stop.abort();
  await Promise.allSettled(all);
  const other = open(async () => answered(204));
  await (await other.forwarder.accept({ ...eventOf('evt_huge'), body: ' '.repeat(70 * 2 ** 20) })).ended;
  assert.equal(other.attempts.length, 1);
});

test('--fail lets a part of the attempts fail: half of them unsent, half of them with their answer ignored', async () => {
  const SEED = 8;
  let sent = 0;
  const post: Post = async () => {
    sent += 1;
    return answered(204);
  };
  const { attempts, send } = open(post, { failShare: 0.2, random: randomFrom(SEED).next });

  for (let i = 0; i < 2_000; i++) await send(`evt_${i}`);

  const failed = attempts.filter(({ outcome }) => outcome.kind === 'failed').length;
  assert.ok(Math.abs(failed - 400) < 80, `${failed} failed, seed ${SEED}`);
  assert.ok(Math.abs(2_000 - sent - failed / 2) < 60, `${sent} sent, seed ${SEED}`);
});
