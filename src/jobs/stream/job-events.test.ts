import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import type { StreamEvent } from '../../../test/fixtures/event-stream.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';
import { UNLIMITED_MEMORY } from '../../http/route.ts';
import { findJob } from '../store.ts';
import { streamJobEvents } from './job-events.ts';

type Fixture = Awaited<ReturnType<typeof openJobFixture>>;
type Account = Awaited<ReturnType<Fixture['account']>>;

const submit = async (fixture: Fixture, account: Account, seconds = 1) =>
  (await fixture.transcribe(account, wavFile(seconds), { async: 'true' })).json.id as string;
const named = (events: StreamEvent[], name: string) =>
  events.filter(({ event }) => event === name).map(({ data }) => data);

/** Reads events up to the first that matches, which is included. */
async function takeUntil(events: AsyncGenerator<StreamEvent>, isLast: (event: StreamEvent) => boolean) {
  const taken: StreamEvent[] = [];
  while (true) {
    const { value, done } = await events.next();
    assert.ok(!done, `the stream ended after ${JSON.stringify(taken)}`);
    taken.push(value);
    if (isLast(value)) return taken;
  }
}

test('a stream sends every state, the progress and the segments as they come, and then the end', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  const id = await submit(fixture, account, 100);
  const events = fixture.watch(account, id);

  const queued = await takeUntil(events, ({ event }) => event === 'progress');
  await fixture.startWorker(engine);
  const processing = await takeUntil(events, ({ event }) => event === 'status');
  for (const text of ['one', 'two']) (await engine.nextCall()).say(text);
  // The row with the progress is read before the segments, and may be older than they are.
  const missing = new Set(['segment', 'progress']);
  const half = await takeUntil(events, ({ event, data }) => {
    if (data.index === 1 || data.progress > 0) missing.delete(event);
    return missing.size === 0;
  });
  for (const text of ['three', 'four']) (await engine.nextCall()).say(text);
  const rest = await Array.fromAsync(events);

  assert.deepEqual(queued, [
    { event: 'status', data: { id, status: 'queued', queue_position: 1, error: null } },
    { event: 'progress', data: { progress: 0 } },
  ]);
  assert.deepEqual(processing.at(-1)?.data, { id, status: 'processing', error: null });
  const segments = named([...half, ...rest], 'segment');
  assert.deepEqual(
    segments.map(({ index, text }) => [index, text]),
    [
      [0, 'one'],
      [1, 'two'],
      [2, 'three'],
      [3, 'four'],
    ],
  );
  const { segments: stored } = await fixture.job(account, id);
  assert.deepEqual(
    segments.map(({ index: _, ...segment }) => segment),
    stored,
  );
  const progress = named([...processing, ...half, ...rest], 'progress').map((data) => data.progress);
  assert.deepEqual(progress, progress.toSorted());
  assert.ok(progress[0] > 0.2 && progress[0] < 0.61, `${progress}`);
  assert.equal(progress.at(-1), 1);
  assert.deepEqual(rest.at(-1), { event: 'status', data: { id, status: 'completed', error: null } });
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from job_pieces' }), []);
});

test('the stream of a job that has ended sends all its events at once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'all' }));
  const id = await submit(fixture, account);
  await fixture.ended(account, id);

  const events = await Array.fromAsync(fixture.watch(account, id));

  assert.deepEqual(
    events.map(({ event }) => event),
    ['progress', 'segment', 'status'],
  );
});

test('a stream that starts later sends the segments so far', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);
  const id = await submit(fixture, account, 100);
  for (const text of ['one', 'two']) (await engine.nextCall()).say(text);
  await until('two pieces', async () => (await fixture.db.rows({ text: 'select 1 from job_pieces' })).length === 2);

  const events = await takeUntil(fixture.watch(account, id), ({ data }) => data.index === 1);

  assert.deepEqual(
    named(events, 'segment').map(({ text }) => text),
    ['one', 'two'],
  );
});

test('the stream of a job that is started again sends its segments again, from the first', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const [first, second] = [openFakeEngine(), openFakeEngine()];
  const worker = await fixture.startWorker(first);
  const id = await submit(fixture, account, 70);
  const events = fixture.watch(account, id);
  (await first.nextCall()).say('begun');
  await takeUntil(events, ({ event }) => event === 'segment');

  await worker.stop();
  // As after a kill: nothing is kept of the pieces.
  await fixture.db.run({ text: 'delete from job_pieces where lease < 0' });
  await fixture.startWorker(second);
  for (const text of ['anew', 'and', 'done']) (await second.nextCall()).say(text);
  const rest = await Array.fromAsync(events);

  assert.deepEqual(
    named(rest, 'segment').map(({ index, text }) => [index, text]),
    [
      [0, 'anew'],
      [1, 'and'],
      [2, 'done'],
    ],
  );
});

test('the stream of a job that is canceled or erased ends', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const [canceled, erased] = [await submit(fixture, account), await submit(fixture, account)];
  const streams = [fixture.watch(account, canceled), fixture.watch(account, erased)];
  for (const stream of streams) await stream.next();

  await fixture.cancel(account, canceled);
  await fixture.erase(account, erased);
  const [first, second] = await Promise.all(streams.map((stream) => Array.fromAsync(stream)));

  assert.equal(first!.at(-1)?.data.status, 'canceled');
  assert.ok(second!.every(({ data }) => data.status !== 'completed'));
});

test('a client that disconnects frees its subscription at once, also before its first read', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  const gone = new AbortController();
  for (let i = 0; i < 60; i++)
    fixture
      .watch(account, id, gone.signal)
      .next()
      .catch(() => undefined);
  await fixture.watch(account, id, gone.signal).next();

  gone.abort();

  for (let i = 0; i < 100; i++) await fixture.watch(account, id).next();
  await assert.rejects(fixture.watch(account, id).next(), {
    type: 'rate_limited',
    message: /^At most 100 jobs of an account, /,
  });
});

test('a stream fails by a bug of the service; while the database is away it only waits', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await submit(fixture, account);
  const job = await findJob(fixture.db, { shard: account.shard, accountId: account.id, id });
  const follow = (of: () => Promise<number | null>) => {
    const watch = { next: async () => undefined, isClosed: () => false, [Symbol.dispose]: () => undefined };
    return streamJobEvents(
      { ...fixture, positions: { of }, memory: UNLIMITED_MEMORY },
      job!,
      watch,
      new AbortController().signal,
    );
  };

  const broken = follow(async () => {
    throw new Error('a bug');
  });
  const away = follow(async () => {
    throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
  });
  await away.next();
  const { value: status } = await away.next();

  await assert.rejects(Array.fromAsync(broken), /a bug/);
  assert.match(status!, /^event: status/);
  assert.doesNotMatch(status!, /queue_position/);
  await away.return(undefined);
});

test('a queued job shows its position, which follows the turns of the accounts', async () => {
  await using fixture = await openJobFixture();
  const [busy, calm] = [await fixture.account(), await fixture.account()];
  const ids = [await submit(fixture, busy), await submit(fixture, busy), await submit(fixture, busy)];
  const late = await submit(fixture, calm);
  await claimNextJob(fixture.db, 60_000);
  const turns = await claimNextJob(fixture.db, 60_000);

  const places = [];
  for (const [account, id] of [
    [busy, ids[0]],
    [busy, ids[1]],
    [busy, ids[2]],
    [calm, late],
  ] as const) {
    places.push((await fixture.job(account, id!)).queue_position ?? null);
  }

  assert.ok(turns !== null);
  assert.deepEqual(places, [null, 1, 2, null]);
});
