import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';
import { openClientClock } from '../../../test/fixtures/client-clock.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { openScriptedServer, type ScriptedServer, type Step } from '../../../test/fixtures/servers/scripted-server.ts';
import {
  AbortedError,
  JobFailedError,
  type JobUpdate,
  NotFoundError,
  TimeoutError,
  type TranscribeProgress,
  Verbatim,
} from './index.ts';

const LIMITS = [60_000, 3_600_000, 4 * 3_600_000, 4_000];

const status = (name: string, more: object = {}): [string, object] => [
  'status',
  { id: 'job_1', status: name, error: null, ...more },
];
const segment = (index: number, text: string): [string, object] => [
  'segment',
  { index, start: index, end: index + 1, text, confidence: null },
];
const progress = (part: number): [string, object] => ['progress', { progress: part }];

const text = (events: [string, object][]) =>
  events.map(([event, data]) => `: comment\n\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`).join('');

/** A stream of these events; then it is cut, or ends. */
const stream =
  (events: [string, object][], isCut = false): Step =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text(events), () => (isCut ? response.destroy() : response.end()));
  };

const job = (state: string, more: object = {}): Step => ({
  status: 200,
  json: {
    id: 'job_1',
    status: state,
    progress: 0,
    segments: null,
    text: null,
    error: null,
    metadata: null,
    ...more,
  },
});

const DONE = job('completed', {
  progress: 1,
  text: 'a b',
  segments: [
    { start: 0, end: 1, text: 'a', confidence: null },
    { start: 1, end: 2, text: 'b', confidence: null },
  ],
});

function clientOf(server: ScriptedServer) {
  const clock = openClientClock(...LIMITS);
  return { client: new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock }), clock };
}

const shown = ({ type, data }: JobUpdate) =>
  type === 'status' ? data.status : type === 'progress' ? data.progress : `${data.index} ${data.text}`;

test('what a stream says after a cut is reported once, however often it is sent', async () => {
  const begin = [status('queued', { queue_position: 2 }), status('processing'), progress(0.5), segment(0, 'a')];
  await using server = await openScriptedServer([
    stream(begin, true),
    stream([status('processing'), progress(0.4), progress(0.5), segment(0, 'a'), segment(1, 'x')]),
    stream([status('processing'), segment(0, 'a'), segment(1, 'b'), progress(0.9), status('completed')]),
  ]);

  const updates = await Array.fromAsync(clientOf(server).client.jobs.follow('job_1'), shown);

  assert.deepEqual(updates, ['queued', 'processing', 0.5, '0 a', '1 x', '1 b', 0.9, 'completed']);
  assert.equal(server.requests.length, 3);
});

test('after three cuts the job is polled, from 1 s to 5 s, with the same updates', async () => {
  const cut = stream([status('processing'), segment(0, 'a')], true);
  const polls = [...Array(7).fill(job('processing', { progress: 0.5 })), DONE];
  await using server = await openScriptedServer([cut, cut, cut, ...polls]);
  const { client, clock } = clientOf(server);

  const updates = await Array.fromAsync(client.jobs.follow('job_1'), shown);

  assert.deepEqual(updates, ['processing', '0 a', 0.5, 1, '1 b', 'completed']);
  assert.deepEqual(
    server.requests.map(({ path }) => path.endsWith('/events')),
    [...Array(3).fill(true), ...Array(8).fill(false)],
  );
  const rounded = clock.waits.map((ms) => Math.round(ms / 100) / 10);
  assert.deepEqual(rounded, [0.5, 0.5, 0.5, 1, 1.5, 2.3, 3.4, 5, 5, 5]);
});

test('a service that has no more streams is polled, and one that is away is waited for', async () => {
  const busy: Step = { status: 429, json: { error: { message: 'Too many.', code: 429, type: 'rate_limited' } } };
  await using server = await openScriptedServer([busy, busy, busy, 'cut', 'cut', 'cut', DONE]);

  const updates = await Array.fromAsync(clientOf(server).client.jobs.follow('job_1'), shown);

  assert.deepEqual(updates, [1, '0 a', '1 b', 'completed']);
});

test('a job that is unknown is not looked for again', async () => {
  const missing: Step = { status: 404, json: { error: { message: 'None.', code: 404, type: 'not_found' } } };
  await using server = await openScriptedServer([missing]);

  await assert.rejects(clientOf(server).client.jobs.wait('job_1'), NotFoundError);
  assert.equal(server.requests.length, 1);
});

test('transcribe sends, waits and reports its progress', async () => {
  const events = [status('queued', { queue_position: 3 }), status('processing'), progress(0.5), status('completed')];
  await using server = await openScriptedServer([job('queued'), stream(events), DONE]);
  const seen: TranscribeProgress[] = [];

  const done = await clientOf(server).client.transcribe(new Blob(['RIFF']), {
    language: 'en',
    onProgress: (each) => seen.push(each),
  });

  assert.equal(done.text, 'a b');
  assert.deepEqual(
    seen.filter(({ phase }) => phase !== 'upload'),
    [
      { phase: 'queue', part: 0, queuePosition: 3, jobId: 'job_1' },
      { phase: 'work', part: 0, jobId: 'job_1' },
      { phase: 'work', part: 0.5, jobId: 'job_1' },
    ],
  );
  assert.deepEqual(seen.filter(({ phase }) => phase === 'upload').at(-1), { phase: 'upload', part: 1 });
  assert.doesNotMatch(String(server.requests[0]!.body), /onProgress/);
});

for (const state of ['failed', 'canceled']) {
  test(`transcribe throws the job that was ${state}`, async () => {
    const error = state === 'failed' ? { type: 'engine_error', message: 'It broke.' } : null;
    const end = job(state, { error });
    await using server = await openScriptedServer([job('queued'), stream([status(state, { error })]), end]);

    await assert.rejects(clientOf(server).client.transcribe(new Blob(['RIFF'])), (thrown) => {
      assert.ok(thrown instanceof JobFailedError);
      assert.equal(thrown.job.status, state);
      assert.match(thrown.message, state === 'failed' ? /It broke/ : /canceled/);
      return true;
    });
  });
}

/** A stream that says that the job is being worked on, and nothing more. */
const endless: Step = (_request, response) =>
  void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(text([status('processing')]));

test('the wait has a limit, and names the job that goes on', async () => {
  await using server = await openScriptedServer([endless]);
  const clock = openManualClock();
  const client = new Verbatim({ apiKey: 'vb_1', baseUrl: server.url, clock });

  const seen = Promise.withResolvers<void>();
  const waiting = client.jobs.wait('job_1', { waitMs: 1_000, onProgress: () => seen.resolve() });
  const ended = assert.rejects(waiting, (error) => {
    assert.ok(error instanceof TimeoutError);
    assert.deepEqual([error.phase, error.jobId, error.isRetryable], ['wait', 'job_1', false]);
    return true;
  });
  await seen.promise;
  await clock.advance(1_000);

  await ended;
});

test('the signal ends the wait, and not the job', async () => {
  await using server = await openScriptedServer([endless]);
  const end = new AbortController();
  const { client } = clientOf(server);

  await assert.rejects(client.jobs.wait('job_1', { signal: end.signal, onProgress: () => end.abort() }), AbortedError);

  assert.deepEqual(
    server.requests.map(({ method }) => method),
    ['GET'],
  );
});
