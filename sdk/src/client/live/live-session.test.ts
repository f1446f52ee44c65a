import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { openClientClock } from '../../../../test/fixtures/client-clock.ts';
import { openManualClock } from '../../../../test/fixtures/manual-clock.ts';
import { until } from '../../../../test/fixtures/until.ts';
import type { Clock } from '../http/clock.ts';
import {
  AbortedError,
  ConnectionError,
  type LiveOptions,
  type LiveUpdate,
  NotFoundError,
  type SocketLike,
  Verbatim,
  VerbatimError,
} from '../index.ts';

const CREATED = {
  id: 'job_1',
  path: '/v1/live/job_1',
  token: 'lt_1',
  limits: { frame_bytes: 1_000, resume_seconds: 60 },
};
// Waits that end by their signal only: of a request, of the first message, of the watch for silence, of the look at a
// job.
const LIMITS_MS = [60_000, 10_000, 4_000, 5_000];
const JOB = {
  id: 'job_1',
  status: 'completed',
  text: 'hello',
  segments: [],
  metadata: null,
  audio: { duration_seconds: null },
};

type Text = { type: string; to?: number; id?: string };

/** A WebSocket whose other end is the test. */
class FakeSocket implements SocketLike {
  static opened: FakeSocket[] = [];
  onopen: SocketLike['onopen'] = null;
  onmessage: SocketLike['onmessage'] = null;
  onclose: SocketLike['onclose'] = null;
  onerror: SocketLike['onerror'] = null;
  readonly url: string;
  readonly protocols: string[];
  /** What was sent: the length of audio, or a text. */
  readonly sent: (number | Text)[] = [];
  isClosed = false;

  constructor(url: string, protocols: string[]) {
    this.url = url;
    this.protocols = protocols;
    FakeSocket.opened.push(this);
  }

  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === 'string' ? JSON.parse(data) : data.length);
  }

  close(): void {
    this.isClosed = true;
  }

  says(message: object): void {
    (this.onmessage as ((event: unknown) => void) | null)?.({ data: JSON.stringify(message) });
  }

  ends(code: number, reason = ''): void {
    (this.onclose as ((event: unknown) => void) | null)?.({ code, reason });
  }

  get audioBytes(): number {
    return this.sent.reduce((sum: number, each) => sum + (typeof each === 'number' ? each : 0), 0);
  }

  get texts(): Text[] {
    return this.sent.filter((each) => typeof each !== 'number');
  }
}

const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

async function openSession({
  clock = openClientClock(...LIMITS_MS),
  look = () => json({ ...JOB, status: 'processing' }),
  ...options
}: LiveOptions & { clock?: Clock; look?: () => Response } = {}) {
  FakeSocket.opened = [];
  const requests: string[] = [];
  const answer = async (input: unknown, init?: RequestInit) => {
    requests.push(`${init?.method} ${new URL(String(input)).pathname} ${init?.body ?? ''}`.trim());
    return init?.method === 'POST' ? json(CREATED, 201) : look();
  };
  const client = new Verbatim({ apiKey: 'vb_1', baseUrl: 'https://speech.test', clock, fetch: answer as typeof fetch });
  const session = await client.live({ metadata: { n: 1 } }, { webSocket: FakeSocket, ...options });
  const updates: LiveUpdate[] = [];
  const read = (async () => {
    for await (const update of session) updates.push(update);
  })();
  read.catch(() => undefined);
  /** The connection of this number, from 1. */
  const connection = async (number: number) =>
    (await until(`connection ${number}`, () => FakeSocket.opened[number - 1])) as FakeSocket;
  const connect = async (number: number, offset: number) => {
    const socket = await connection(number);
    socket.says({ type: 'hello', offset, resumed: number > 1 });
    return socket;
  };
  return { session, updates, read, requests, connection, connect, clock };
}

const segment = (seq: number) => ({ type: 'segment', seq, index: seq - 1, start: 0, end: 1, text: `text ${seq}` });

test('what is not acknowledged is sent again after a cut, from where the service is', async () => {
  const { session, connect, updates, requests } = await openSession();
  const first = await connect(1, 0);
  void session.write(new Uint8Array(2_500));
  first.says({ type: 'ack', offset: 1_500 });
  first.says(segment(1));
  first.ends(1006);
  void session.write(new Int16Array(250));

  const second = await connect(2, 2_000);
  second.says(segment(1));
  second.says(segment(2));

  assert.deepEqual(first.sent, [1_000, 1_000, 500]);
  assert.deepEqual(
    [first.protocols, first.url],
    [['verbatim.live.v1', 'token.lt_1'], 'wss://speech.test/v1/live/job_1?after=0'],
  );
  assert.match(second.url, /after=1$/);
  assert.deepEqual(second.sent, [500, 500]);
  assert.equal(session.unacknowledgedBytes, 1_000);
  session.close();
  await until('the updates', () => updates.length === 2);
  assert.deepEqual(requests, [`POST /v1/live {"metadata":"{\\"n\\":1}"}`]);
});

test('what is to be said comes after the audio before it, on each connection until it is answered', async () => {
  const { session, connect } = await openSession();
  void session.write(new Uint8Array(100));
  const finalized = session.finalize();
  void session.write(new Uint8Array(200));
  void session.finish().catch(() => undefined);
  void session.write(new Uint8Array(400));
  const first = await connect(1, 0);
  first.ends(1012);

  const second = await connect(2, 0);
  second.says({ type: 'finalized', id: '1', offset: 100 });
  await finalized;
  second.ends(1006);
  const third = await connect(3, 50);

  const finalize = { type: 'finalize', id: '1' };
  const finish = { type: 'finish' };
  assert.deepEqual(first.sent, [100, finalize, 200, finish]);
  assert.deepEqual(second.sent, first.sent);
  assert.deepEqual(third.sent, [50, 200, finish]);
  third.says({ type: 'done', seq: 1, job: { ...JOB, metadata: 12345678901234567890n.toString() } });
  assert.equal((await session.ended).text, 'hello');
});

test('so much is sent ahead of the acknowledgements, and a writer waits for space', async () => {
  const { session, connect } = await openSession();
  const socket = await connect(1, 0);
  let isWritten = false;
  const writing = session.write(new Uint8Array(3 * 2 ** 20)).then(() => {
    isWritten = true;
  });
  assert.equal(socket.audioBytes, 2 ** 20);

  socket.says({ type: 'ack', offset: 2 ** 20 });
  assert.deepEqual([socket.audioBytes, isWritten], [2 * 2 ** 20, false]);
  socket.says({ type: 'ack', offset: 2 * 2 ** 20 });

  await writing;
  assert.equal(socket.audioBytes, 3 * 2 ** 20);
  session.close();
});

test('when the buffer is full the oldest audio is given up, and the service is told how much', async () => {
  const { session, connect, updates } = await openSession({ maxBufferBytes: 1_000 });
  const first = await connect(1, 0);
  first.ends(1006);
  for (let count = 0; count < 4; count++) void session.write(new Uint8Array(500));

  const second = await connect(2, 0);

  assert.deepEqual(second.sent, [{ type: 'gap', to: 1_000 }, 500, 500]);
  assert.deepEqual(updates, [{ type: 'audio_lost', from: 0, to: 1_000 }]);
  session.close();
});

for (const code of [4001, 4007, 4009, 1009]) {
  test(`after the close code ${code} no other connection is made`, async () => {
    const { session, connect, read } = await openSession();
    const socket = await connect(1, 0);

    socket.ends(code, 'why');

    const isFinal = (error: unknown) => error instanceof VerbatimError && error.message.includes(`${code} why`);
    await assert.rejects(session.ended, isFinal);
    await assert.rejects(read, isFinal);
    await assert.rejects(session.finish(), isFinal);
    assert.equal(FakeSocket.opened.length, 1);
  });
}

test('a session that a handshake has taken which was given up is taken back, once', async () => {
  const { session, connect, connection } = await openSession();
  void session.write(new Uint8Array(500));
  (await connection(1)).ends(1006);
  (await connect(2, 0)).ends(4001, 'why');

  const third = await connect(3, 200);
  assert.deepEqual(third.sent, [300]);
  third.ends(4001, 'why');
  await assert.rejects(session.ended, /Another connection has the session/);
});

test('the pauses between connections grow to 4 s, and each refused one asks for the job', async () => {
  const clock = openClientClock(...LIMITS_MS);
  const { session, connection, requests } = await openSession({ clock });
  for (let number = 1; number <= 7; number++) (await connection(number)).ends(1006);
  await connection(8);

  const most = [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000];
  assert.equal(clock.waits.length, most.length);
  for (const [index, waitMs] of clock.waits.entries())
    assert.ok(waitMs <= most[index]! && waitMs >= most[index]! * 0.75);
  assert.equal(requests.filter((request) => request === 'GET /v1/jobs/job_1').length, 7);
  session.close();
});

test('a session whose job has ended meanwhile ends with it, and with the segments that have not come', async () => {
  const segments = [1, 2].map((seq) => ({ start: 0, end: 1, text: `text ${seq}`, confidence: null }));
  const { session, connect, connection, updates, read } = await openSession({ look: () => json({ ...JOB, segments }) });
  const socket = await connect(1, 0);
  socket.says(segment(1));
  socket.ends(1006);
  (await connection(2)).ends(1006);

  assert.equal((await session.finish()).text, 'hello');
  await read;
  assert.deepEqual(
    updates.map((update) => update.type === 'segment' && [update.seq, update.text]),
    [
      [1, 'text 1'],
      [2, 'text 2'],
    ],
  );
});

for (const [duration, finish, lost] of [
  [0.5, false, [{ type: 'audio_lost', from: 16_000, to: 32_000 }]],
  [0.5, true, [{ type: 'audio_lost', from: 16_000, to: 32_000 }]],
  [1, true, []],
] as const) {
  test(`a job of ${duration} s tells which part of 1 s it lacks, ${finish ? 'after' : 'before'} the last word`, async () => {
    const look = () => json({ ...JOB, audio: { duration_seconds: duration } });
    const { session, connect, connection, updates, read } = await openSession({ look });
    const socket = await connect(1, 0);
    void session.write(new Uint8Array(32_000));
    socket.says({ type: 'ack', offset: 8_000 });
    if (finish) void session.finish();
    socket.ends(1006);
    (await connection(2)).ends(1006);

    await read;

    assert.deepEqual(updates, lost);
  });
}

test('a session that was erased fails, and one whose service does not come back does so after its time', async () => {
  const missing = { error: { message: 'There is no such job.', code: 404, type: 'not_found' } };
  const erased = await openSession({ look: () => json(missing, 404) });
  (await erased.connection(1)).ends(1006);
  await assert.rejects(erased.session.ended, NotFoundError);

  const away = await openSession({ look: () => json({}, 503) });
  const refuse = setInterval(() => FakeSocket.opened.at(-1)?.ends(1006), 0);
  await assert.rejects(away.session.ended, ConnectionError);
  clearInterval(refuse);
  // A minute for which the session is kept, and ten.
  assert.ok(FakeSocket.opened.length > 100);
});

test('a connection on which nothing comes for 38 s is given up', async () => {
  const clock = openManualClock();
  const { session, connect, connection } = await openSession({ clock });
  const first = await connect(1, 0);
  await clock.advance(30_000);
  first.says({ type: 'ack', offset: 0 });
  await clock.advance(36_000);
  assert.equal(first.isClosed, false);

  await clock.advance(10_000);
  assert.equal(first.isClosed, true);
  await clock.advance(10_000);
  await connection(2);
  session.close();
});

test('a session that has ended leaves nothing at the signal', async () => {
  const { signal } = new AbortController();
  const { session, connect } = await openSession({ signal });
  (await connect(1, 0)).says({ type: 'done', seq: 1, job: JOB });

  await session.ended;

  await until('the listeners to be removed', () => getEventListeners(signal, 'abort').length === 0);
});

test('the signal leaves the session, and so does close', async () => {
  const controller = new AbortController();
  const { session, connect, read } = await openSession({ signal: controller.signal });
  const socket = await connect(1, 0);

  controller.abort(new Error('enough'));

  await assert.rejects(session.ended, AbortedError);
  await assert.rejects(read, AbortedError);
  assert.equal(socket.isClosed, true);
});
