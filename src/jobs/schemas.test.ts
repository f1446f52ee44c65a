import assert from 'node:assert/strict';
import test from 'node:test';
import { FIELD_BYTES } from './api/request.ts';
import type { Job } from './job.ts';
import { jobListSchema, jobSchema, transcribeForm } from './schemas.ts';
import { showJobInList, showWaitingJob } from './view.ts';

const moment = new Date(0);
const job: Job = {
  ...{ shard: 0, id: 'job_1', accountId: 'acct_1', state: 'queued', plan: 'lite', language: null, wordTimes: false },
  ...{ metadata: '{}', filename: null, format: 'wav', sizeBytes: 1, audioKey: null, durationMs: 1, heldUnits: 0 },
  ...{
    transcribedUnits: 0,
    costUnits: null,
    attempts: 0,
    lease: 0,
    progress: 0,
    model: null,
    detectedLanguage: null,
    transcript: null,
  },
  ...{ segments: null, errorType: null, errorMessage: null, createdAt: moment, startedAt: null, completedAt: null },
};

test('the reference names every field that the form takes, and no other', () => {
  assert.deepEqual(Object.keys(transcribeForm.properties).sort(), ['file', ...Object.keys(FIELD_BYTES)].sort());
});

test('the reference names every field of a job, alone and in lists', () => {
  assert.deepEqual(Object.keys(jobSchema.properties).sort(), Object.keys(showWaitingJob(job, 1)).sort());
  assert.deepEqual(
    Object.keys(jobListSchema.properties.data.items.properties).sort(),
    Object.keys(showJobInList(job)).sort(),
  );
});
