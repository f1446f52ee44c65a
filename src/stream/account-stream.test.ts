import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { openTestDatabase, type TestDatabase } from '../../test/fixtures/database/test-database.ts';
import { runtimeOn } from '../../test/fixtures/runtime.ts';
import { makeStreamAccount } from '../../test/fixtures/stream.ts';
import { emitEvent } from '../../test/fixtures/webhooks/emit-event.ts';
import type { Database } from '../db/database.ts';
import { UNLIMITED_MEMORY } from '../http/route.ts';
import { systemClock } from '../platform/clock.ts';
import { streamAccount } from './account-stream.ts';
import type { Horizon } from './horizon-store.ts';
import { JoinedReads } from './joined-reads.ts';
import type { Position } from './position.ts';
import { eventSource } from './sources.ts';

const BEGIN_MS = Date.parse('2031-05-20T09:00:00.000Z');
const SECOND_MS = 1_000;

type Account = Awaited<ReturnType<typeof makeStreamAccount>>;

/** An event that was created at this time, which may have fractions of a millisecond. */
async function emitAt(db: TestDatabase, account: Account, atMs: number): Promise<string> {
  const data = { job: { id: 'job_1', text: 'hello' } };
  const id = await emitEvent(db, { account, type: 'transcription.completed', jobId: null, metadata: null, data });
  const text = `update events
    set created_at = timestamptz '${new Date(BEGIN_MS).toISOString()}' + $3::float8 * interval '1 microsecond'
    where shard = $1 and id = $2`;
  await db.run({ text, values: [account.shard, id, Math.round((atMs - BEGIN_MS) * 1_000)] });
  return id;
}

/**
 * The frames of a stream whose reads have these horizons, each read at once after the one before.
 * @param before  called before the read with this number, from 0
 */
async function framesOf(
  db: TestDatabase,
  account: Account,
  horizons: Horizon[],
  { start = {}, before }: { start?: Partial<Position>; before?: (read: number) => Promise<void> } = {},
): Promise<{ id: string | null; event: string | null }[]> {
  const stopping = new AbortController();
  let read = 0;
  const scripted: Database = {
    ...db,
    async rows<Row>(statement: Parameters<Database['rows']>[0]) {
      if (statement.name !== 'read_horizon') return await db.rows<Row>(statement);
      await before?.(read);
      const horizon = horizons[Math.min(read, horizons.length - 1)]!;
      read += 1;
      if (read === horizons.length) stopping.abort();
      return [horizon as Row];
    },
  };
  const clock = { ...systemClock, sleep: async () => void (await nextTurn()) };
  const runtime = {
    ...runtimeOn(scripted, { clock }),
    accountChanges: null as never,
    version: '1',
    memory: UNLIMITED_MEMORY,
  };
  const subscription = {
    next: async () => undefined,
    taken: () => undefined,
    isClosed: () => false,
    [Symbol.dispose]: () => undefined,
  };
  const order = {
    sources: [eventSource(scripted, { shard: account.shard, accountId: account.id }, null)],
    reads: new JoinedReads(),
    start: { fromMs: BEGIN_MS, isNow: false, gap: null, oldestId: null, ...start },
    hello: {},
  };
  const frames = [];
  for await (const text of streamAccount(runtime, order, subscription, stopping.signal)) {
    if (!text.startsWith('event: event\n')) continue;
    const [, id = null] = /^id: (.+)$/m.exec(text) ?? [];
    frames.push({ id, event: (JSON.parse(/^data: (.+)$/m.exec(text)![1]!) as { id: string }).id });
  }
  return frames;
}

const at = (seconds: number) => BEGIN_MS + seconds * SECOND_MS;
const horizonAt = (seconds: number, startSeconds = seconds): Horizon => ({
  nowMs: at(seconds),
  startMs: at(startSeconds),
});

test('a horizon that goes back sends no event again, and none that is committed late is lost', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const first = await emitAt(db, account, at(1));
  const second = await emitAt(db, account, at(25));
  let late = '';

  const frames = await framesOf(
    db,
    account,
    [horizonAt(26), horizonAt(60), horizonAt(61, 12), horizonAt(62, 12), horizonAt(63)],
    {
      async before(read) {
        // Of a transaction that began a moment before the second read.
        if (read === 3) late = await emitAt(db, account, at(59.999));
      },
    },
  );

  assert.deepEqual(
    frames.map(({ event }) => event),
    [first, second, late],
  );
});

test('an event is sent once, whatever fraction of a millisecond its time and the horizon have', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const ids: string[] = [];
  for (const micros of [1, 250, 499, 500, 501, 999]) ids.push(await emitAt(db, account, at(5) + micros / 1_000));
  const around = [100, 300, 500, 700, 900].map((micros) => {
    const nowMs = at(15) + micros / 1_000;
    return { nowMs, startMs: nowMs };
  });

  const frames = await framesOf(db, account, [horizonAt(6), ...around, horizonAt(30)]);

  assert.deepEqual(
    frames.map(({ event }) => event),
    ids,
  );
});

test('after the clock of the database was set back, its events are sent', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  let later = '';

  const frames = await framesOf(db, account, [horizonAt(3_600), horizonAt(61), horizonAt(62), horizonAt(63)], {
    async before(read) {
      if (read === 2) later = await emitAt(db, account, at(61.5));
    },
  });

  assert.deepEqual(
    frames.map(({ event }) => event),
    [later],
  );
});

test('the id of a frame never leads back by more than 50 s, however old the oldest transaction is', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  await emitAt(db, account, at(3_600));

  const [frame] = await framesOf(db, account, [horizonAt(3_601, 0), horizonAt(3_602, 0)]);

  assert.equal(frame!.id, new Date(at(3_551)).toISOString());
});
