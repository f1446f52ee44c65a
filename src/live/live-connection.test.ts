import assert from 'node:assert/strict';
import test from 'node:test';
import { toneWav } from '../../test/fixtures/audio/test-audio.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { noisySpeech, openStubDecoder } from '../../test/fixtures/live.ts';
import { randomFrom } from '../../test/fixtures/random.ts';
import { until } from '../../test/fixtures/until.ts';
import type { Database } from '../db/database.ts';
import type { LiveEngine } from '../engines/live/live-engine.ts';
import type { OpenSocket } from '../http/websocket/open-socket.ts';
import { LiveJournal } from '../jobs/live/rows/journal.ts';
import { takeOverSession } from '../jobs/live/rows/take-over.ts';
import { LeaseKeeper } from '../jobs/work/lease-keeper.ts';
import type { LiveApi } from './live-api.ts';
import { LiveConnection } from './live-connection.ts';
import type { HostedUser, Taken } from './live-host.ts';
import { type LiveClaim, RunningSession } from './running-session.ts';

const OPTIONS = { encoding: 'pcm_s16le', sampleRate: 16_000, partials: false, endpointingMs: 600 };
const REST = { maxSegmentSeconds: 20, resumeSeconds: 60, idleSeconds: 300 };

/** A session whose connections the test opens. */
async function openEnvironment() {
  const fixture = await openJobFixture({ AUDIO_RETENTION_HOURS: '0' });
  const account = await fixture.account();
  const { json } = await fixture.transcribe(account, toneWav('a'), { async: 'true' });
  const key = { shard: account.shard, accountId: account.id, id: json.id };
  await fixture.db.run({ text: 'update jobs set is_live = true where id = $1', values: [key.id] });
  await fixture.db.run({
    text: 'insert into live_sessions (shard, job_id, account_id, options) values ($1, $2, $3, $4)',
    values: [key.shard, key.id, key.accountId, JSON.stringify({ ...OPTIONS, ...REST })],
  });
  const engine = { name: 'stub', open: () => openStubDecoder() } as Partial<LiveEngine> as LiveEngine;
  const rows: Database['rows'] = async (statement) => {
    if (statement.name === 'find_live_messages' && environment.readsSlowly) {
      environment.readsSlowly = false;
      await fixture.db.rows({ text: 'select pg_sleep(0.5)' });
    }
    return await fixture.db.rows(statement);
  };
  const db = { ...fixture.db, rows };
  const { metrics: _, ...parts } = fixture;
  const leases = new LeaseKeeper<LiveClaim>({ ...parts, db }, async (claims) => claims.map(({ id }) => id));
  const runtime = { ...parts, db, leases, journal: new LiveJournal({ ...parts, db }) };
  const host = {
    run: (taken: Taken, user: HostedUser) => new RunningSession(runtime, taken, user, () => undefined),
    connectionClosed: () => undefined,
  };
  const environment = {
    readsSlowly: false,
    async connect() {
      // biome-ignore lint/suspicious/noExplicitAny: messages of many types
      const messages: any[] = [];
      const socket = {
        isPaused: false,
        unsentBytes: 0,
        send: (message: object) => void messages.push(message),
        sendText: (text: string) => void messages.push(JSON.parse(text)),
        close: () => undefined,
        pause: () => undefined,
        resume: () => undefined,
      } as Partial<OpenSocket> as OpenSocket;
      const taken = { ...(await takeOverSession(db, key, 'node_test/http'))!, engine, free: () => undefined };
      const connection = new LiveConnection({ ...runtime, host } as unknown as LiveApi, socket, { taken, after: 0 });
      return { connection, messages, has: (type: string) => messages.some((message) => message.type === type) };
    },
    async [Symbol.asyncDispose]() {
      await leases.close();
      await fixture[Symbol.asyncDispose]();
    },
  };
  return environment;
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
