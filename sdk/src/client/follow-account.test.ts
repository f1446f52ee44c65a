import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openClientClock } from '../../../test/fixtures/client-clock.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openScriptedServer, type ScriptedServer, type Step } from '../../../test/fixtures/servers/scripted-server.ts';
import { until } from '../../../test/fixtures/until.ts';
import { AbortedError, type ConnectionState, type StreamFrame, UnauthenticatedError, Verbatim } from './index.ts';

type Frame = [event: string, id: string | null, data: object];

const body = (id: string) => JSON.stringify({ id, type: 'webhook.test', created_at: 'T', data: {} });
const event = (id: string): Frame => [
  'event',
  id,
  { id, type: 'webhook.test', created_at: 'T', sha256: '', body: body(id) },
];
const resend = (id: string, delivery: string): Frame => [
  'resend',
  'T1',
  {
    id,
    type: 'webhook.test',
    created_at: 'T',
    sha256: '',
    body: body(id),
    webhook_id: 'wh_1',
    delivery_id: delivery,
  },
];
const HELLO: Frame = ['hello', 'T0', { account: 'acct_1', version: '1', now: 'T0', oldest_id: null }];
const BYE: Frame = ['bye', null, { reason: 'stopping' }];
const REVOKED: Step = { status: 401, json: { error: { message: 'No.', code: 401, type: 'unauthenticated' } } };

const text = (frames: Frame[]) =>
  frames
    .map(([name, id, data]) => `event: ${name}\n${id === null ? '' : `id: ${id}\n`}data: ${JSON.stringify(data)}\n\n`)
    .join('');

const stream =
  (frames: Frame[], then: 'cut' | 'end' | 'stay', date = 'Sat, 21 Nov 2026 09:30:00 GMT'): Step =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', date });
    response.write(`retry: 2000\n\n${text(frames)}`, () => {
      if (then === 'cut') response.destroy();
      if (then === 'end') response.end();
    });
  };

function clientOf(server: ScriptedServer) {
  const clock = openClientClock(60_000, 4_000);
  return { client: new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock }), clock };
}

const afters = ({ requests, url }: ScriptedServer) =>
  requests.map(({ path }) => new URL(path, url).searchParams.get('after'));

test('after each cut the stream goes on from the last frame, and what comes again is dropped', async () => {
  await using server = await openScriptedServer([
    stream([HELLO, event('evt_1'), event('evt_2')], 'cut'),
    stream([HELLO, event('evt_1'), event('evt_2'), event('evt_3'), resend('evt_1', 'dlv_1'), BYE], 'end'),
    stream([HELLO, event('evt_3'), resend('evt_1', 'dlv_1'), resend('evt_1', 'dlv_2'), event('evt_4')], 'end'),
    REVOKED,
  ]);
  const seen: string[] = [];

  await assert.rejects(async () => {
    const options = { after: 'evt_0', types: ['webhook.test' as const, 'transcription.failed' as const] };
    for await (const { id, event, resentTo, body: sent, resumeId } of clientOf(server).client.events.follow(options)) {
      assert.deepEqual([event.id, sent], [id, body(id)]);
      seen.push(`${id} ${resentTo?.delivery_id ?? ''} ${resumeId}`);
    }
  }, UnauthenticatedError);

  assert.deepEqual(seen, [
    'evt_1  evt_1',
    'evt_2  evt_2',
    'evt_3  evt_3',
    'evt_1 dlv_1 T1',
    'evt_1 dlv_2 T1',
    'evt_4  evt_4',
  ]);
  assert.deepEqual(afters(server), ['evt_0', 'evt_2', 'T1', 'evt_4']);
  const { searchParams } = new URL(server.requests[0]!.path, server.url);
  assert.deepEqual(
    [searchParams.get('topics'), searchParams.get('types')],
    ['events', 'webhook.test,transcription.failed'],
  );
});

test('"now" is the time of the call by the clock of the service, also when the first connections bring no frame', async () => {
  // 2 h ahead of the clock of the client.
  const date = 'Sat, 21 Nov 2026 11:30:00 GMT';
  await using server = await openScriptedServer([
    stream([], 'cut', date),
    stream([], 'end', 'Sat, 21 Nov 2026 11:31:00 GMT'),
    REVOKED,
  ]);

  await assert.rejects(Array.fromAsync(clientOf(server).client.events.follow({ after: 'now' })), UnauthenticatedError);

  assert.deepEqual(afters(server), [null, '2026-11-21T11:30:00.000Z', '2026-11-21T11:30:00.000Z']);
});

test('where no answer comes, "now" is the time of the call by the clock of the client', async () => {
  await using server = await openScriptedServer(['cut', 'cut', REVOKED]);

  await assert.rejects(Array.fromAsync(clientOf(server).client.stream()), UnauthenticatedError);

  assert.deepEqual(afters(server), [null, '2026-11-21T09:30:00.000Z', '2026-11-21T09:30:00.000Z']);
});

test('a frame that was not handled is asked for again', async () => {
  await using server = await openScriptedServer([stream([HELLO, event('evt_1'), event('evt_2')], 'cut'), REVOKED]);
  const resumeIds: (string | null)[] = [];

  for await (const { resumeId } of clientOf(server).client.events.follow()) {
    resumeIds.push(resumeId);
    break;
  }

  assert.deepEqual([resumeIds, afters(server)], [['evt_1'], [null]]);
});

test('the pauses grow to 30 s while the service is away, and begin anew once it answers', async () => {
  const away: Step[] = Array(7).fill('cut');
  await using server = await openScriptedServer([...away, stream([HELLO], 'cut'), 'cut', REVOKED]);
  const { client, clock } = clientOf(server);
  const states: ConnectionState[] = [];

  await assert.rejects(
    Array.fromAsync(client.stream({ onConnection: (state) => states.push(state) })),
    UnauthenticatedError,
  );

  const most = [1, 2, 4, 8, 16, 30, 30, 1, 2];
  for (const [index, seconds] of most.entries()) {
    const wait = clock.waits[index]! / 1_000;
    assert.ok(wait <= seconds && wait >= seconds * 0.75, `${wait} s is not about ${seconds} s`);
  }
  assert.equal(clock.waits.length, most.length);
  assert.deepEqual(
    states.map(({ state }) => state),
    [...Array(7).fill('lost'), 'connected', 'lost', 'lost'],
  );
});

test('an account with too many streams waits as long as it is told', async () => {
  const busy: Step = {
    status: 429,
    headers: { 'retry-after': '5' },
    json: { error: { message: 'Too many.', code: 429, type: 'rate_limited' } },
  };
  await using server = await openScriptedServer([busy, REVOKED]);
  const clock = openClientClock(60_000, 4_000);
  const client = new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock });

  await assert.rejects(Array.fromAsync(client.stream()), UnauthenticatedError);

  assert.deepEqual(clock.waits, [5_000]);
});

test('only the last 10,000 are remembered', async () => {
  const ids = Array.from({ length: 10_001 }, (_, index) => event(`evt_${index}`));
  await using server = await openScriptedServer([
    stream([HELLO, ...ids, event('evt_1')], 'end'),
    stream([event('evt_1'), event('evt_0')], 'end'),
    REVOKED,
  ]);
  const seen: string[] = [];

  await assert.rejects(async () => {
    for await (const { id } of clientOf(server).client.events.follow()) seen.push(id);
  }, UnauthenticatedError);

  assert.equal(seen.length, 10_002);
  assert.equal(seen.at(-1), 'evt_0');
});

/** Follows a stream that stays open, on a clock that the test advances; `next` advances once the frame was taken. */
async function followSilent(server: ScriptedServer) {
  const clock = openManualClock();
  const client = new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock });
  const states: ConnectionState['state'][] = [];
  const end = new AbortController();
  const frames: StreamFrame[] = [];
  const ended = (async () => {
    const options = { signal: end.signal, onConnection: ({ state }: ConnectionState) => void states.push(state) };
    for await (const frame of client.stream(options)) frames.push(frame);
  })().catch((error) => error);
  await until('the first frame', () => frames.length === 1);
  return { clock, states, frames, end: () => end.abort(), ended };
}

test('a stream that brings nothing for 38 s is given up', async () => {
  await using server = await openScriptedServer([stream([HELLO], 'stay')]);
  const { clock, states, frames, end, ended } = await followSilent(server);

  for (let seconds = 0; seconds < 36; seconds += 4) await clock.advance(4_000);
  assert.deepEqual(states, ['connected']);
  await clock.advance(4_000);
  await until('the loss', () => states.includes('lost'));
  await clock.advance(1_000);
  await until('the second connection', () => frames.length === 2);

  end();
  assert.ok((await ended) instanceof AbortedError);
  assert.deepEqual(states, ['connected', 'lost', 'connected']);
});

test('a stream is given up when the machine was asleep', async () => {
  await using server = await openScriptedServer([stream([HELLO], 'stay')]);
  const { clock, states, end, ended } = await followSilent(server);
  const wakeUp = clock.now;
  // Timers stand still while a machine sleeps: the next one is late.
  clock.now = () => wakeUp() + 11_000;

  await clock.advance(4_000);
  await until('the loss', () => states.includes('lost'));

  end();
  await ended;
  assert.deepEqual(states, ['connected', 'lost']);
});
