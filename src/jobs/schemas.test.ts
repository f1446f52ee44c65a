import assert from 'node:assert/strict';
import test from 'node:test';
import { FIELD_BYTES } from './api/request.ts';
import type { Job } from './job.ts';
import { transcribeForm } from './request/schemas.ts';
import { jobListSchema, jobSchema } from './schemas.ts';
import { showJobInList, showWaitingJob } from './view.ts';

const moment = new Date(0);
// Only the fields that the view reads.
const job = {
  state: 'queued',
  language: null,
  options: {},
  tracks: [] as Job['tracks'],
  metadata: '{}',
  segments: null,
  costUnits: null,
  errorType: null,
  createdAt: moment,
  wait: { waitingFor: 'engine', since: moment },
} as Job;

test('the schema of the form names every field that the form accepts, and no other', () => {
  assert.deepEqual(Object.keys(transcribeForm.properties).sort(), ['file', ...Object.keys(FIELD_BYTES)].sort());
});

test('the schemas name every field of a job, alone and in lists', () => {
  // Only a job with a webhook of its own shows its URL, and only the answer that makes the job its secret;
  // only a live one that has not ended shows `live`.
  const shown = [...Object.keys(showWaitingJob(job, 1)), 'webhook_url', 'webhook_secret', 'live'];
  assert.deepEqual(Object.keys(jobSchema.properties).sort(), shown.sort());
  assert.deepEqual(
    Object.keys(jobListSchema.properties.data.items.properties).sort(),
    Object.keys(showJobInList({ ...job, transcript: 'x'.repeat(501) })).sort(),
  );
});

test('a job in a list shows the first 500 characters of its text, and says when there are more', () => {
  const textOf = (transcript: string | null) => {
    const { text, text_cut: isCut } = showJobInList({ ...job, transcript });
    return { text, isCut };
  };

  assert.deepEqual(textOf('😀'.repeat(500)), { text: '😀'.repeat(500), isCut: undefined });
  assert.deepEqual(textOf('😀'.repeat(501)), { text: '😀'.repeat(500), isCut: true });
  assert.deepEqual(textOf(null), { text: null, isCut: undefined });
});
