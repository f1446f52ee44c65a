import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import test from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import type { AudioStorage } from '../../audio/storage/storage.ts';
import { readConfig } from '../../config/settings.ts';
import type { Database } from '../../db/database.ts';
import type { JobState } from '../../rules/jobs/job-state.ts';
import type { Job } from '../job.ts';
import { answerAudio } from './audio-answer.ts';
import { OpenReads } from './open-reads.ts';
import { OpusCopies } from './opus-copies.ts';

const STATES: [state: JobState, audioRetentionHours: number, isKept: boolean][] = [
  ['queued', 0, true],
  ['processing', 0, true],
  ['completed', 0, false],
  ['failed', 0, false],
  ['canceled', 0, false],
  ['completed', 24, true],
];

for (const [state, audioRetentionHours, isKept] of STATES) {
  test(`audio of a ${state} job is ${isKept ? '' : 'not '}sent with a retention of ${audioRetentionHours} hours`, async () => {
    const job = {
      id: 'job_1',
      accountId: 'acct_1',
      state,
      format: 'wav',
      sizeBytes: 3,
      audioKey: 'key',
      filename: null,
    };
    // The file is not erased yet.
    const storage = { read: async () => Readable.from(['RIF']) } as unknown as AudioStorage;
    const config = readConfig({ AUDIO_RETENTION_HOURS: String(audioRetentionHours) });
    const runtime = runtimeOn({} as Database, { config, storage });

    const reads = { reads: new OpenReads(), copies: new OpusCopies({ ...runtime, tools: TEST_TOOLS }) };
    const answer = answerAudio(runtime, reads, job as Job, {
      asOpus: false,
      header: () => null,
      signal: new AbortController().signal,
    });

    if (isKept) assert.equal((await answer).status, 200);
    else await assert.rejects(answer, { type: 'not_found' });
  });
}
