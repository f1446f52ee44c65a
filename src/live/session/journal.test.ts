import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../../../test/fixtures/database/test-database.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Database } from '../../db/database.ts';
import type { LiveSegment } from '../../jobs/live/live-segment.ts';
import { eraseLive, findLiveSegments, findLiveSession, takeLiveSession } from '../../jobs/live/live-store.ts';
import { readLiveAudio } from './audio/live-audio.ts';
import { type JournalEntry, LiveJournal } from './journal.ts';

const OPTIONS = {
  encoding: 'mulaw',
  sampleRate: 8_000,
  partials: true,
  endpointingMs: 600,
  maxSegmentSeconds: 20,
  resumeSeconds: 60,
  idleSeconds: 300,
} as const;

const AT = { frame: 7, isSpeaking: true };

/** What ends each session. */
const over = new WeakMap<JournalEntry, AbortController>();

async function openEnvironment() {
  const database = await openTestDatabase();
  const clock = openManualClock();
  let isAway = false;
  const rows: Database['rows'] = async (statement) => {
    if (isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    return await database.rows(statement);
  };
  const db = { ...database, rows };
  const journal = new LiveJournal(runtimeOn(db, { clock }));
  const events: string[] = [];
  /** Takes over the session of the job, which is made by the first call. */
  async function open(id: string, shard = 3): Promise<JournalEntry> {
    const key = { shard, id };
    const before = await findLiveSession(database, key);
    if (before === null) {
      await database.run({
        text: 'insert into live_sessions (shard, job_id, account_id, options) values ($1, $2, $3, $4)',
        values: [shard, id, 'acct_1', JSON.stringify(OPTIONS)],
      });
    }
    const row = (await takeLiveSession(database, { ...key, lease: (before?.lease ?? 0) + 1 }, true))!;
    const ends = new AbortController();
    const end = (how: string) => {
      ends.abort(null);
      events.push(`${id} ${how}`);
    };
    const entry = journal.open({
      row,
      job: { wordTimes: false },
      over: ends.signal,
      acknowledge: (bytes) => void events.push(`${id} durable ${bytes}`),
      loseLease: () => end('lost'),
      fail: () => end('failed'),
    });
    over.set(entry, ends);
    return entry;
  }
  const audioOf = async (id: string, from = 0, to = Number.MAX_SAFE_INTEGER) =>
    await Array.fromAsync(readLiveAudio(database, { shard: 3, id }, from, to));
  const setAway = (away: boolean) => {
    isAway = away;
  };
  return Object.assign(database, { clock, events, open, audioOf, setAway });
}

function segment(number: number): LiveSegment {
  const at = { startSeconds: number, endSeconds: number + 1 };
  return {
    ...at,
    number,
    text: `text ${number}`,
    confidence: 0.5,
    reason: 'endpoint',
    words: [{ ...at, text: 'text', confidence: null }],
    language: 'en',
  };
}

test('audio is durable 250 ms after it came, that of all sessions together, and a segment at once', async () => {
  await using environment = await openEnvironment();
  const { clock, events, open, audioOf } = environment;
  const [one, other] = [await open('job_1'), await open('job_2')];
  one.append(Buffer.from('abc'), AT);
  other.append(Buffer.from('xyz'), AT);
  await clock.advance(249);
  assert.deepEqual(events, []);

  await clock.advance(1);
  await until('both are durable', () => events.length === 2);
  one.append(Buffer.from('def'), AT);
  await one.add(segment(1), AT);

  assert.deepEqual(events, ['job_1 durable 3', 'job_2 durable 3', 'job_1 durable 6']);
  assert.deepEqual(
    Buffer.concat(
      (await audioOf('job_1')).map((part) => (part.kind === 'bytes' ? part.bytes : Buffer.alloc(0))),
    ).toString(),
    'abcdef',
  );
  const row = await findLiveSession(environment, { shard: 3, id: 'job_1' });
  assert.deepEqual([row?.durableBytes, row?.frame, row?.isSpeaking], [6, 7, true]);
  const [stored] = await findLiveSegments(environment, { shard: 3, id: 'job_1' }, { after: 0, limit: 10 });
  assert.deepEqual(stored, segment(1));
});

test('a session that was taken over is told so, and nothing of it is written', async () => {
  await using environment = await openEnvironment();
  const { events, open, audioOf } = environment;
  const old = await open('job_1');
  old.append(Buffer.from('abc'), AT);
  await old.flush();
  const next = await open('job_1');
  old.append(Buffer.from('old'), AT);
  await old.flush();
  next.append(Buffer.from('new'), AT);
  await next.flush();

  assert.deepEqual(events, ['job_1 durable 3', 'job_1 lost', 'job_1 durable 6']);
  assert.deepEqual(
    (await audioOf('job_1', 2, 5)).map((part) => String(part.bytes)),
    ['c', 'ne'],
  );
});

test('while the database is away audio waits, and what came meanwhile is written with it', async () => {
  await using environment = await openEnvironment();
  const { clock, events, open, setAway } = environment;
  const entry = await open('job_1');
  setAway(true);
  entry.append(Buffer.from('abc'), AT);
  await clock.advance(250);
  entry.append(Buffer.from('def'), AT);
  const flushed = entry.flush();
  await clock.advance(400);
  assert.deepEqual([events, entry.pendingBytes(), entry.pendingMs()], [[], 6, 650]);

  setAway(false);
  await clock.advance(500);
  await flushed;

  assert.deepEqual([events, entry.pendingBytes(), entry.pendingMs()], [['job_1 durable 6'], 0, 0]);
});

test('a read goes on where it was when the database is back, and ends with the session', async () => {
  await using environment = await openEnvironment();
  const { clock, open, setAway } = environment;
  const entry = await open('job_1');
  for (let part = 0; part < 20; part++) {
    entry.append(Buffer.from('a'), AT);
    entry.skip(1, AT);
  }
  await entry.flush();
  const sizes: number[] = [];
  const reading = (async () => {
    for await (const { bytes } of entry.read(0, 40)) {
      sizes.push(typeof bytes === 'number' ? 0 : bytes.length);
      if (sizes.length === 8) setAway(true);
    }
  })();
  let isOver = false;
  const end = () => {
    isOver = true;
  };
  void reading.then(end, end);
  await until('the end of the first page', () => sizes.length === 16);
  setAway(false);
  await until('the end', async () => {
    await clock.advance(250);
    return isOver;
  });
  await reading;
  setAway(true);
  const last = entry.read(0, 40).next();
  over.get(entry)!.abort(null);

  assert.deepEqual(
    sizes,
    Array.from({ length: 40 }, (_, part) => (part + 1) % 2),
  );
  await assert.rejects(last, (cause) => cause === null);
});

test('gaps and audio are read from any byte to any other', async () => {
  await using environment = await openEnvironment();
  const { open, audioOf } = environment;
  const random = randomFrom(8);
  const entry = await open('job_1');
  let whole = Buffer.alloc(0);
  for (let part = 0; part < 60; part++) {
    const length = 1 + random.integer(part % 5 === 0 ? 150_000 : 900);
    const bytes = random.integer(4) === 0 ? null : Buffer.alloc(length, 1 + random.integer(250));
    if (bytes) entry.append(bytes, AT);
    else entry.skip(length, AT);
    whole = Buffer.concat([whole, bytes ?? Buffer.alloc(length)]);
    if (random.integer(3) === 0) await entry.flush();
  }
  await entry.flush();

  for (let trial = 0; trial < 30; trial++) {
    const from = random.integer(whole.length);
    const to = from + random.integer(whole.length - from + 1);
    const parts = await audioOf('job_1', from, to);
    const read = Buffer.concat(parts.map((part) => (part.kind === 'bytes' ? part.bytes : Buffer.alloc(part.bytes))));
    assert.ok(read.equals(whole.subarray(from, to)), `${from} to ${to}`);
  }
  const row = await findLiveSession(environment, { shard: 3, id: 'job_1' });
  assert.deepEqual([row?.durableBytes, row?.gapBytes], [whole.length, entry.durable.gapBytes]);
});

test('the rows of a session are erased in steps', async () => {
  await using environment = await openEnvironment();
  const entry = await environment.open('job_1');
  for (let chunk = 0; chunk < 510; chunk++) {
    entry.append(Buffer.from('a'), AT);
    entry.skip(1, AT);
  }
  await entry.flush();
  const key = { shard: 3, id: 'job_1' };

  const steps = [
    await eraseLive(environment, key),
    await eraseLive(environment, key),
    await eraseLive(environment, key),
  ];

  assert.deepEqual(steps, [false, false, true]);
  assert.equal(await findLiveSession(environment, key), null);
  assert.deepEqual(await environment.audioOf('job_1'), []);
});

test('a session that cannot be written does not fail the others of its shard', async () => {
  await using environment = await openEnvironment();
  const { clock, events, open } = environment;
  const [bad, good] = [await open('job_1'), await open('job_2')];
  // Its row breaks a constraint.
  await environment.run({
    text: `alter table live_sessions add constraint refused check (job_id <> 'job_1' or durable_bytes = 0)`,
  });
  bad.append(Buffer.from('abc'), AT);
  good.append(Buffer.from('xyz'), AT);
  await clock.advance(250);
  await until('both ends', () => events.length === 2);

  assert.deepEqual(events.toSorted(), ['job_1 failed', 'job_2 durable 3']);
});

test('a session is taken over under a higher lease only', async () => {
  await using environment = await openEnvironment();
  await environment.open('job_1');
  const take = async (lease: number) => await takeLiveSession(environment, { shard: 3, id: 'job_1', lease }, true);

  const same = await take(1);
  const next = await take(2);

  assert.deepEqual([same, next?.lease, next?.connections], [null, 2, 2]);
});
