import assert from 'node:assert/strict';
import { once } from 'node:events';
import net from 'node:net';
import test from 'node:test';
import { openTestDatabase } from '../../test/fixtures/database/test-database.ts';
import { openManualClock } from '../../test/fixtures/manual-clock.ts';
import { runtimeOn } from '../../test/fixtures/runtime.ts';
import { framesOf, makeStreamAccount, openStreamNode } from '../../test/fixtures/stream.ts';
import { until } from '../../test/fixtures/until.ts';
import { emitEvent } from '../../test/fixtures/webhooks/emit-event.ts';
import type { Database, Sql } from '../db/database.ts';
import { ApiError } from '../http/api-error.ts';
import { streamAccount } from './account-stream.ts';
import type { Subscription } from './changes.ts';
import { JoinedReads } from './joined-reads.ts';
import { readPosition } from './position.ts';
import { eventSource } from './sources.ts';

type Account = Awaited<ReturnType<typeof makeStreamAccount>>;

const emit = (sql: Sql, account: Account, text = 'hello') =>
  emitEvent(sql, {
    account,
    type: 'transcription.completed',
    jobId: null,
    metadata: null,
    data: { job: { id: 'job_1', text } },
  });

/** A subscription without changes. */
const SILENT: Subscription = {
  next: () => new Promise<void>(() => undefined),
  taken: () => undefined,
  isClosed: () => false,
  [Symbol.dispose]: () => undefined,
};

function runtimeOf(db: Database, hold = (_: number): Disposable => ({ [Symbol.dispose]: () => undefined })) {
  const memory = { hold, reserve: () => undefined };
  return { ...runtimeOn(db), accountChanges: null as never, version: '1.2.3', memory };
}

/** A database that counts the bytes of the bodies that are read. */
function counting(db: Database) {
  const count = { bytes: 0 };
  const counted: Database = {
    ...db,
    async rows<Row>(statement: Parameters<Sql['rows']>[0]) {
      const rows = await db.rows<Row>(statement);
      if (statement.name === 'find_event_bodies') {
        for (const { body } of rows as { body: Buffer }[]) count.bytes += body.length;
      }
      return rows;
    },
  };
  return { db: counted, count };
}

test('a client that does not read costs little memory, and is cut off after a minute', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const bytes = 200 * 1024;
  for (let i = 0; i < 200; i++) await emit(db, account, 'x'.repeat(bytes));
  const clock = openManualClock();
  // The manual clock begins at 0: the stream begins then too.
  const counted = counting(db);
  await using node = await openStreamNode(counted.db, { clock });
  const socket = net.connect(node.port, '127.0.0.1');
  const closed = once(socket, 'close');
  socket.on('error', () => undefined).pause();
  socket.write(`GET /v1/stream?after=1970-01-01 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${account.key}\r\n\r\n`);

  await until('bodies to be read', () => counted.count.bytes > 0);
  await until('the end of the connection', async () => {
    await clock.advance(20_000);
    return (await node.connections()) === 0;
  });
  // A paused socket learns of its end when it is read.
  socket.resume();
  await closed;

  assert.ok(counted.count.bytes < (200 * bytes) / 2, `${counted.count.bytes} bytes were read`);
  assert.ok(socket.bytesRead < (200 * bytes) / 2, `${socket.bytesRead} bytes were sent`);
});

test('a client that reads gets all of it, and a comment every 15 s', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const ids: string[] = [];
  for (let i = 0; i < 30; i++) ids.push(await emit(db, account, 'x'.repeat(200_000)));
  const clock = openManualClock();
  await using node = await openStreamNode(db, { clock });
  const answer = await fetch(`${node.url}?after=1970-01-01`, { headers: { 'x-api-key': account.key } });
  const frames = framesOf(answer.body!);

  const received: string[] = [];
  let comments = 0;
  while (comments < 2) {
    const next = frames.next();
    let isThere = false;
    void next.then(() => {
      isThere = true;
    });
    await until('a frame', async () => {
      if (received.length === ids.length) await clock.advance(5_000);
      return isThere;
    });
    const { value } = await next;
    if (value?.event === 'event') received.push(value.data.id);
    if (value?.event === 'comment') comments += 1;
  }

  assert.deepEqual(received, ids);
});

test('events that are committed after the hello are sent, also those that began before', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const before = await emit(db, account);
  const held = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const late = db.transaction(async (tx) => {
    const id = await emit(tx, account);
    begun.resolve();
    await held.promise;
    return id;
  });
  await begun.promise;
  await using node = await openStreamNode(db);
  const cut = new AbortController();
  const answer = await fetch(node.url, { headers: { 'x-api-key': account.key }, signal: cut.signal });
  const frames = framesOf(answer.body!);
  const hello = (await frames.next()).value!;
  held.resolve();
  const after = await emit(db, account);

  const received = [(await frames.next()).value!, (await frames.next()).value!].map(({ data }) => data.id);
  cut.abort();

  assert.deepEqual([hello.event, hello.data.oldest_id], ['hello', before]);
  assert.deepEqual(received.sort(), [await late, after].sort());
});

// The last times are later than any that PostgreSQL takes as text.
for (const id of ['evt_01zzzzzzzzzzzzzzzzzzzzzzzz', 'evt_7zzzzzzzzzzzzzzzzzzzzzzzzz', `evt_${'z'.repeat(26)}`]) {
  test(`a stream that resumes with an id of the future says so, and sends what comes: ${id}`, async () => {
    await using db = await openTestDatabase();
    const account = await makeStreamAccount(db);
    const before = await emit(db, account);
    await using node = await openStreamNode(db);
    const cut = new AbortController();
    const headers = { 'x-api-key': account.key, 'last-event-id': id };
    const frames = framesOf((await fetch(node.url, { headers, signal: cut.signal })).body!);
    const hello = (await frames.next()).value!;
    const gap = (await frames.next()).value!;
    const after = await emit(db, account);

    const event = (await frames.next()).value;
    cut.abort();

    assert.notEqual(hello.id, null);
    assert.deepEqual([gap.event, gap.data], ['gap', { from: id, oldest_id: before }]);
    assert.equal(event?.data.id, after);
  });
}

test('streams of one account that read at the same moment make each read once', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  const id = await emit(db, account);
  const owner = { shard: account.shard, accountId: account.id };
  const start = await readPosition(db, owner, { name: 'after', text: '1970-01-01', nowMs: Date.now(), keepDays: 7 });
  const made: string[] = [];
  const noting: Database = {
    ...db,
    rows: (statement) => {
      made.push(statement.name!);
      return db.rows(statement);
    },
  };
  const reads = new JoinedReads();
  const firstIdOf = async (types: string[] | null) => {
    const order = { sources: [eventSource(noting, owner, types)], reads, start, hello: {} };
    for await (const frame of streamAccount(runtimeOf(noting), order, SILENT, new AbortController().signal)) {
      const [, found] = /"id":"(evt_[^"]+)"/.exec(frame) ?? [];
      if (found) return found;
    }
    return null;
  };

  const received = await Promise.all([firstIdOf(null), firstIdOf(null), firstIdOf(['transcription.completed'])]);

  assert.deepEqual(received, [id, id, id]);
  assert.deepEqual(
    made.filter((name) => name !== 'find_event_bodies'),
    // The third stream leaves other types out.
    ['read_horizon', 'list_events_after', 'list_events_after'],
  );
});

test('a frame for which there is no memory ends the stream; frames count until the client has taken them', async () => {
  await using db = await openTestDatabase();
  const account = await makeStreamAccount(db);
  for (const bytes of [100_000, 900_000]) await emit(db, account, 'x'.repeat(bytes));
  const owner = { shard: account.shard, accountId: account.id };
  const start = await readPosition(db, owner, { name: 'after', text: '1970-01-01', nowMs: Date.now(), keepDays: 7 });
  let held = 0;
  const hold = (bytes: number) => {
    if (bytes > 3_000_000) throw new ApiError('rate_limited', 'Too many answers are not read yet.');
    held += bytes;
    return { [Symbol.dispose]: () => void (held -= bytes) };
  };
  const frames = streamAccount(
    runtimeOf(db, hold),
    { sources: [eventSource(db, owner, null)], reads: new JoinedReads(), start, hello: {} },
    SILENT,
    new AbortController().signal,
  );
  const received: [number, number][] = [];
  for await (const frame of frames) received.push([frame.length, held]);

  const [length, heldMeanwhile] = received.at(-1)!;
  assert.ok(length > 100_000 && length < 101_000, `the last frame has ${length} characters`);
  assert.equal(heldMeanwhile, 4 * length);
  assert.equal(held, 0);
});
