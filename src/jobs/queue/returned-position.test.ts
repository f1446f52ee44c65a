import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeOn } from '../../../test/fixtures/runtime.ts';
import type { Database, Statement } from '../../db/database.ts';
import type { Job } from '../job.ts';
import { openQueuePositions } from './queue-position.ts';

test('a returned job that is started while its position is read has none', async () => {
  const answers: Record<string, object[]> = {
    find_job_rank: [{ isReturned: true, createdAt: '2026-11-21 09:30:00+00', rank: 0 }],
    count_returned_jobs: [{ count: 0 }],
    measure_queues: [],
  };
  const db = { rows: async ({ name }: Statement) => answers[name!]! } as unknown as Database;

  const position = await openQueuePositions(runtimeOn(db)).of({ state: 'queued' } as Job);

  assert.equal(position, null);
});
