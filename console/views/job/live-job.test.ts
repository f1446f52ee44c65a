import assert from 'node:assert/strict';
import test from 'node:test';
import { applyEvents, type LiveEvent, type LiveJob } from './live-job.ts';

const START: LiveJob = { status: 'queued', queuePosition: 3, progress: 0, segments: [] };
const segment = (index: number, text: string): LiveEvent => ({
  type: 'segment',
  data: { index, start: index, end: index + 1, text, confidence: null },
});
const status = (data: { status: 'queued' | 'processing'; queue_position?: number }): LiveEvent => ({
  type: 'status',
  data: { id: 'job_1', error: null, ...data },
});

test('state, place, progress and segments are the last that were sent', () => {
  const job = applyEvents(START, [
    status({ status: 'queued', queue_position: 1 }),
    status({ status: 'processing' }),
    { type: 'progress', data: { progress: 0.25 } },
    segment(0, 'one'),
    segment(1, 'two'),
  ]);

  assert.deepEqual([job.status, job.queuePosition, job.progress], ['processing', null, 0.25]);
  assert.deepEqual(
    job.segments.map(({ text }) => text),
    ['one', 'two'],
  );
});

test('a stream that is opened again changes nothing but what is new', () => {
  const before = applyEvents(START, [segment(0, 'one'), segment(1, 'two')]);

  const after = applyEvents(before, [status({ status: 'processing' }), segment(0, 'one')]);
  const last = applyEvents(after, [segment(1, 'two, mended'), segment(2, 'three')]);

  assert.deepEqual(
    after.segments.map(({ text }) => text),
    ['one', 'two'],
  );
  assert.deepEqual(
    last.segments.map(({ text }) => text),
    ['one', 'two, mended', 'three'],
  );
  assert.equal(before.segments.length, 2);
});

test('a job that is queued again has no segments', () => {
  const before = applyEvents(START, [segment(0, 'one'), segment(1, 'two')]);

  const job = applyEvents(before, [
    status({ status: 'queued' }),
    status({ status: 'processing' }),
    segment(0, 'again'),
  ]);

  assert.deepEqual(
    job.segments.map(({ text }) => text),
    ['again'],
  );
});

test('without new segments the list is the same', () => {
  const before = applyEvents(START, [segment(0, 'one')]);

  assert.equal(applyEvents(before, [{ type: 'progress', data: { progress: 0.5 } }]).segments, before.segments);
});
