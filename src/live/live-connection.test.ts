import assert from 'node:assert/strict';
import test from 'node:test';
import { toneWav } from '../../test/fixtures/audio/test-audio.ts';
import { toneSpeech } from '../../test/fixtures/audio/tone/speech.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../test/fixtures/live.ts';
import { openPlace } from '../../test/fixtures/live-place.ts';
import { openManualClock } from '../../test/fixtures/manual-clock.ts';
import { randomFrom } from '../../test/fixtures/random.ts';
import { UNCOUNTED_LIVE } from '../../test/fixtures/uncounted.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Database } from '../db/database.ts';
import { SAMPLE_RATE } from '../engines/engine.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import { CLOSE, type OpenSocket } from '../http/websocket/open-socket.ts';
import { LeaseKeeper } from '../jobs/work/lease-keeper.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { openSemaphore } from '../platform/semaphore.ts';
import { Slices } from '../platform/slices.ts';
import { LiveConnection } from './live-connection.ts';
import type { HostedUser, LiveApi, Taken } from './live-host.ts';
import { LiveJournal } from './session/journal.ts';
import { type LiveClaim, RunningSession } from './session/running-session.ts';
import { takeOverSession } from './session/take-over.ts';

const OPTIONS = { encoding: 'pcm_s16le', sampleRate: 16_000, partials: true, endpointingMs: 600 };
const REST = { maxSegmentSeconds: 20, resumeSeconds: 60, idleSeconds: 300 };

/** A session whose connections the test opens. */
async function openEnvironment(clock: Clock = systemClock) {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '0' });
  const account = await fixture.account();
  const { json } = await fixture.transcribe(account, toneWav('a'), { async: 'true' });
  const key = { shard: account.shard, accountId: account.id, id: json.id };
  await fixture.db.run({ text: 'update jobs set is_live = true where id = $1', values: [key.id] });
  await fixture.db.run({
    text: 'insert into live_sessions (shard, job_id, account_id, options) values ($1, $2, $3, $4)',
    values: [key.shard, key.id, key.accountId, JSON.stringify({ ...OPTIONS, ...REST })],
  });
  const open = () => ({
    ...openStubDecoder(() => environment.fails),
    backlogSeconds: () => environment.backlogSeconds,
  });
  const engine = { name: 'stub', open } as Partial<LiveEngine> as LiveEngine;
  const rows: Database['rows'] = async (statement) => {
    if (environment.isAway) throw Object.assign(new Error('away'), { code: 'ECONNREFUSED' });
    if (statement.name === 'end_job' && environment.losesEnd) {
      environment.losesEnd = false;
      await fixture.db.rows(statement);
      throw new Error('Query read timeout');
    }
    if (statement.name === 'find_live_messages') environment.reads += 1;
    if (statement.name === 'find_live_messages' && environment.readsSlowly) {
      environment.readsSlowly = false;
      await fixture.db.rows({ text: 'select pg_sleep(0.5)' });
    }
    return await fixture.db.rows(statement);
  };
  const run: Database['run'] = async (statement) => {
    if (statement.name === 'erase_live_chunks') await environment.erasing;
    return await fixture.db.run(statement);
  };
  const db = { ...fixture.db, rows, run };
  const rest = { ...fixture, ...UNCOUNTED_LIVE };
  const parts = { ...rest, clock };
  const leases = new LeaseKeeper<LiveClaim>({ ...parts, db }, async (claims) => {
    environment.renewals += 1;
    return claims.filter(() => environment.holdsLease).map(({ id }) => id);
  });
  const runtime = {
    ...parts,
    db,
    leases,
    ends: openSemaphore(1),
    slices: new Slices(),
    journal: new LiveJournal({ ...parts, db }),
  };
  const host = {
    run: (taken: Taken, user: HostedUser) => new RunningSession(runtime, taken, user),
    connectionClosed: () => undefined,
  };
  const environment = {
    db: fixture.db,
    reads: 0,
    fails: false,
    readsSlowly: false,
    isAway: false,
    losesEnd: false,
    holdsLease: true,
    renewals: 0,
    erasing: Promise.resolve(),
    backlogSeconds: 0,
    async connect({ isUnread = false } = {}) {
      // biome-ignore lint/suspicious/noExplicitAny: messages of many types
      const messages: any[] = [];
      const socket = {
        isPaused: false,
        isUnread,
        unsentBytes: 0,
        closeCode: null as number | null,
        send: (message: object) => void messages.push(message),
        sendText: (text: string) => void messages.push(JSON.parse(text)),
        close(code: number) {
          socket.closeCode ??= code;
        },
        charge: () => undefined,
        pause() {
          socket.isPaused = true;
        },
        resume() {
          socket.isPaused = false;
        },
      };
      const taken = { ...(await takeOverSession(db, key, 'node_test/http'))!, place: openPlace(engine) };
      const api = { ...runtime, host } as unknown as LiveApi;
      const connection = new LiveConnection(api, socket as Partial<OpenSocket> as OpenSocket, { taken, after: 0 });
      return { connection, socket, messages, has: (type: string) => messages.some((message) => message.type === type) };
    },
    async [Symbol.asyncDispose]() {
      await leases.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
  return environment;
}

type Connected = Awaited<ReturnType<Awaited<ReturnType<typeof openEnvironment>>['connect']>>;

function segmentsOf({ messages }: Connected) {
  return messages.filter(({ type }) => type === 'segment');
}

test('a job ends when its client has the segments that were stored before it connected again', async () => {
  await using environment = await openEnvironment();
  const first = await environment.connect();
  first.connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  first.connection.text('{"type":"finalize"}');
  await until('the last segment', () => first.has('finalized'));
  const segments = first.messages.filter(({ type }) => type === 'segment');
  first.connection.closed(1006);

  environment.readsSlowly = true;
  const second = await environment.connect();
  second.connection.text('{"type":"finish"}');
  await until('the end', () => second.has('done'));
  second.connection.closed(1000);

  assert.ok(segments.length > 0);
  assert.deepEqual(
    second.messages.filter(({ type }) => type === 'segment'),
    segments,
  );
  assert.equal(second.messages.at(-1).seq, segments.length + 1);
});

test('finalized follows the segment, also when a new connection has not read its stored segments yet', async () => {
  await using environment = await openEnvironment();
  environment.readsSlowly = true;
  const { connection, has, messages } = await environment.connect();
  connection.binary(Buffer.from(noisySpeech(randomFrom(3), 2)));
  connection.text('{"type":"finalize"}');
  await until('the end of the segment', () => has('finalized'));
  connection.closed(1006);

  const types = messages.map(({ type }) => type);
  assert.ok(types.includes('segment') && types.indexOf('segment') < types.indexOf('finalized'), types.join());
});

test('stored segments wait for a client that does not read, and so does the end of the job', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const first = await environment.connect();
  first.connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  first.connection.text('{"type":"finalize"}');
  await until('the last segment', () => first.has('finalized'));
  first.connection.closed(1006);
  environment.reads = 0;

  const second = await environment.connect({ isUnread: true });
  second.connection.text('{"type":"finish"}');
  await clock.advance(10_000);
  const before = [environment.reads, second.has('segment'), second.has('done')];
  second.socket.isUnread = false;
  await until('the end', async () => {
    await clock.advance(1_000);
    return second.has('done');
  });
  second.connection.closed(1000);

  assert.deepEqual(before, [0, false, false]);
  assert.ok(segmentsOf(first).length > 0);
  assert.deepEqual(segmentsOf(second), segmentsOf(first));
});

test('a client that connects while the database is away gets its stored segments when it is back', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const first = await environment.connect();
  first.connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  first.connection.text('{"type":"finalize"}');
  await until('the last segment', () => first.has('finalized'));
  first.connection.closed(1006);

  environment.isAway = true;
  const second = await environment.connect();
  second.connection.text('{"type":"finish"}');
  await clock.advance(10_000);
  const before = [second.socket.closeCode, second.has('segment')];
  environment.isAway = false;
  await until('the end', async () => {
    await clock.advance(1_000);
    return second.has('done');
  });
  second.connection.closed(1000);

  assert.deepEqual(before, [null, false]);
  assert.deepEqual(segmentsOf(second), segmentsOf(first));
});

test('a client gets the job also when the answer of the database to its end is lost', async () => {
  await using environment = await openEnvironment();
  const { connection, socket, has, messages } = await environment.connect();
  connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  environment.losesEnd = true;
  connection.text('{"type":"finish"}');
  await until('the close', () => socket.closeCode !== null);
  connection.closed(1000);

  assert.deepEqual([socket.closeCode, has('done')], [1000, true]);
  assert.equal(messages.at(-1).job.status, 'completed');
});

test('a client gets the job also when the lease is renewed just after the end was written', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const { connection, socket, has } = await environment.connect();
  connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  const { promise, resolve: erase } = Promise.withResolvers<void>();
  environment.erasing = promise;
  connection.text('{"type":"finish"}');
  await until('the end of the job', async () => {
    const ended = await environment.db.rows({ text: 'select from jobs where completed_at is not null' });
    return ended.length > 0;
  });

  // A renewal finds no job that is processed under the lease.
  environment.holdsLease = false;
  await clock.advance(2_000);
  await until('a renewal', () => environment.renewals > 0);
  // As long as some reads take.
  await environment.db.rows({ text: 'select pg_sleep(0.1)' });
  erase();
  await until('the close', () => socket.closeCode !== null);
  connection.closed(1000);

  assert.deepEqual([socket.closeCode, has('done')], [1000, true]);
});

for (const [who, isConnected, code] of [
  ['a transcriber', false, 1013],
  ['another connection', true, 4001],
] as const) {
  test(`a client whose session ${who} has taken is closed with ${code}`, async () => {
    await using environment = await openEnvironment();
    const { connection, socket } = await environment.connect();
    await environment.db.run({ text: 'update jobs set lease = lease + 1' });
    await environment.db.run({
      text: 'update live_sessions set lease = lease + 1, is_connected = $1',
      values: [isConnected],
    });
    connection.binary(Buffer.from(noisySpeech(randomFrom(3), 2)));
    await until('the close', () => socket.closeCode !== null);
    connection.closed(code);

    assert.equal(socket.closeCode, code);
  });
}

test('the segments of a job that has ended elsewhere are not read again and again', async () => {
  await using environment = await openEnvironment();
  const first = await environment.connect();
  first.connection.binary(Buffer.from(noisySpeech(randomFrom(3), 12)));
  first.connection.text('{"type":"finalize"}');
  await until('the last segment', () => first.has('finalized'));
  first.connection.closed(1006);
  await environment.db.run({ text: 'delete from job_pieces' });
  environment.reads = 0;

  const second = await environment.connect();
  await until('the first read', () => environment.reads > 0);
  // As long as some reads take.
  await environment.db.rows({ text: 'select pg_sleep(0.1)' });
  second.connection.closed(1006);

  assert.equal(environment.reads, 1);
});

test('a client that does not read gets its segments and no partial text', async () => {
  await using environment = await openEnvironment();
  const { connection, socket, has, messages } = await environment.connect();
  const speech = Buffer.from(noisySpeech(randomFrom(3), 12));
  socket.unsentBytes = 256 * 1024;
  connection.binary(speech);
  connection.text('{"type":"finalize"}');
  await until('the last segment', () => has('finalized'));
  const before = messages.map(({ type }) => type);

  socket.unsentBytes = 0;
  connection.binary(speech);
  await until('partial text', () => has('partial'));
  connection.closed(1000);

  assert.ok(before.includes('segment'));
  assert.ok(!before.includes('partial'));
});

test('words of the open segment that wait for their moment stay when the segment before it becomes final', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const { connection, messages, has } = await environment.connect();
  for (const part of [toneSpeech('hello'), new Int16Array(SAMPLE_RATE), toneSpeech('good')])
    connection.binary(Buffer.from(part.buffer));
  await until('the first segment', () => has('segment'));
  assert.ok(!has('partial'));

  await clock.advance(200);
  connection.closed(1000);

  const partials = messages.filter(({ type }) => type === 'partial');
  assert.deepEqual(
    partials.map(({ index }) => index),
    [1],
  );
});

test('a client waits while the engine is 10 s behind, and nothing that it sent is dropped', async () => {
  await using environment = await openEnvironment();
  const { connection, socket, has, messages } = await environment.connect();
  const speech = Buffer.from(noisySpeech(randomFrom(3), 12));
  environment.backlogSeconds = 10;
  connection.binary(speech);
  const wasPaused = socket.isPaused;
  // What the system had received before the pause.
  connection.binary(speech);
  environment.backlogSeconds = 9;
  await until('the client to go on', () => !socket.isPaused);
  connection.text('{"type":"finish"}');
  await until('the end', () => has('done'));
  connection.closed(1000);

  assert.ok(wasPaused);
  const { job } = messages.at(-1);
  assert.deepEqual([job.status, job.audio.duration_seconds], ['completed', 24]);
  assert.equal(messages.findLast(({ type }) => type === 'ack').offset, 2 * speech.length);
});

test('while the database is away nothing is acknowledged; after 60 s the client is sent elsewhere, and resumes', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const speech = Buffer.from(noisySpeech(randomFrom(3), 12));
  const first = await environment.connect();
  environment.isAway = true;
  first.connection.binary(speech);
  await clock.advance(60_000);
  const before = [first.socket.closeCode, first.has('segment')];
  await clock.advance(2_000);
  first.connection.closed(1013);
  environment.isAway = false;

  const second = await environment.connect();
  second.connection.binary(speech);
  second.connection.text('{"type":"finish"}');
  await until('the end', () => second.has('done'));
  second.connection.closed(1000);

  assert.deepEqual(before, [null, false]);
  assert.equal(first.socket.closeCode, 1013);
  // The acknowledgements every 15 s, by which a page sees that the connection works.
  assert.ok(first.messages.every(({ type, offset }) => type !== 'ack' || offset === 0));
  assert.deepEqual([second.messages[0].offset, second.messages.at(-1).job.audio.duration_seconds], [0, 12]);
});

for (const [what, closeCode, keeps] of [
  ['sends nothing ends after its idle time', 4005, false],
  ['only says that it is there ends after 12 hours', 4006, true],
] as const) {
  test(`the session of a client that ${what}, and costs nothing`, async () => {
    const clock = openManualClock();
    await using environment = await openEnvironment(clock);
    await environment.db.run({ text: 'update jobs set created_at = to_timestamp(0)' });
    const { connection, socket, has, messages } = await environment.connect();
    const lastsMs = keeps ? 12 * 3_600_000 : REST.idleSeconds * 1000;
    for (let minute = 0; minute < lastsMs / 60_000; minute++) {
      assert.equal(socket.closeCode, null, `after ${minute} minutes`);
      if (keeps) connection.text('{"type":"keepalive"}');
      await clock.advance(60_000);
    }
    await clock.advance(1_000);
    await until('the end', () => has('done'));
    connection.closed(closeCode);

    const { job } = messages.at(-1);
    assert.deepEqual([socket.closeCode, job.status, job.cost], [closeCode, 'completed', 0]);
  });
}

test('a session that goes on in another process keeps its warnings', async () => {
  await using environment = await openEnvironment();
  const first = await environment.connect();
  environment.fails = true;
  first.connection.binary(Buffer.from(noisySpeech(randomFrom(3), 2)));
  first.connection.text('{"type":"finalize"}');
  await until('the failure', () => first.has('finalized'));
  environment.fails = false;
  // Before that the next process decodes the segment again.
  await until('the warning to be durable', async () => {
    const rows = await environment.db.rows({ text: `select from live_sessions where warnings <> '[]'` });
    return rows.length > 0;
  });
  first.connection.closed(1006);

  const second = await environment.connect();
  second.connection.text('{"type":"finish"}');
  await until('the end', () => second.has('done'));
  second.connection.closed(1000);

  const codes = second.messages.at(-1).job.warnings.map(({ code }: { code: string }) => code);
  assert.deepEqual(codes, ['segment_failed', 'no_speech']);
});

for (const [what, ageMinutes, gapsMinutes, code] of [
  ['as long as the session and ten minutes goes', 20, [10, 19], null],
  ['longer than the session and ten minutes ends', 20, [10, 21], CLOSE.tooLong],
  ['beyond the longest session ends', 300, [241], CLOSE.tooLong],
] as const) {
  test(`a session with a gap ${what} ${code === null ? 'on' : 'with 4006'}`, async () => {
    await using environment = await openEnvironment();
    await environment.db.run({
      text: "update jobs set created_at = created_at - $1 * interval '1 minute'",
      values: [ageMinutes],
    });
    const { connection, socket, has } = await environment.connect();
    let to = 0;
    for (const minutes of gapsMinutes) {
      to += minutes * 60 * 32_000;
      connection.text(JSON.stringify({ type: 'gap', to }));
    }
    if (code === null) connection.text('{"type":"finish"}');
    await until('the end', () => has('done'));
    connection.closed(CLOSE.done);

    assert.equal(socket.closeCode, code ?? CLOSE.done);
  });
}

test('a client that waits for the engine is not idle', async () => {
  const clock = openManualClock();
  await using environment = await openEnvironment(clock);
  const { connection, socket, has } = await environment.connect();
  environment.backlogSeconds = 10;
  connection.binary(Buffer.from(noisySpeech(randomFrom(3), 2)));
  await clock.advance(250);
  await until('the audio to be durable', async () => {
    await clock.advance(1);
    return has('ack');
  });

  await clock.advance((REST.idleSeconds + 2) * 1000);
  environment.backlogSeconds = 0;
  connection.text('{"type":"finish"}');
  await until('the end', async () => {
    await clock.advance(1_000);
    return has('done');
  });
  connection.closed(1000);

  assert.equal(socket.closeCode, CLOSE.done);
});

test('a file that is sent as samples fails the job, which costs nothing', async () => {
  await using environment = await openEnvironment();
  const client = await environment.connect();
  const message =
    'The audio begins as an Ogg file does, and the session takes samples without a container: 16-bit PCM, little-endian, 16000 Hz, one channel. Send these, or the whole file to POST /v1/transcribe.';

  client.connection.binary(Buffer.concat([Buffer.from('OggS\0\x02'), Buffer.alloc(3_000, 0x5a)]));
  client.connection.binary(Buffer.alloc(32_000, 0x5a));
  await until('the end', () => client.has('done'));
  client.connection.closed(CLOSE.otherFormat);

  const { job } = client.messages.at(-1)!;
  assert.deepEqual([job.status, job.cost, job.text], ['failed', 0, null]);
  assert.deepEqual([job.error.type, job.error.message], ['unprocessable_audio', message]);
  assert.deepEqual(client.messages.find(({ type }) => type === 'error').error.message, message);
  assert.equal(client.socket.closeCode, CLOSE.otherFormat);
});
