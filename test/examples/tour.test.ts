import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { ROOT } from '../../src/platform/installation.ts';
import { openEmptyDatabase } from '../fixtures/database/test-database.ts';

/** What each program prints. */
const PRINTED: Record<string, string[]> = {
  'job.ts': [
    'accepted: queued, 0.016667 credits are held',
    'ended: completed, "One second.", attempt 1',
    'credit: 10 credits, 0 held',
    'hold: 9.983333 credits, 0.016667 held',
    'capture: 9.983333 credits, 0 held',
  ],
  'delivery.ts': [
    'received: webhook.test with a signature that holds, attempt 1',
    'received: webhook.test with a signature that holds, attempt 2',
    'the bytes were the same: true',
    'attempt 1: failed, 503',
    'attempt 2: succeeded, 204',
  ],
  'live-session.ts': [
    'first: takes over at 0 bytes',
    'first: "Heard by the first.", all of 96000 bytes are acknowledged',
    'second: takes over at 96000 bytes',
    'first: its lease is lost',
    'ended: completed, 6000 ms, "Heard by the first. Heard by the second."',
  ],
};

for (const [program, lines] of Object.entries(PRINTED)) {
  test(`examples/tour/${program} prints what it says`, async () => {
    await using database = await openEmptyDatabase();
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;

    const { stdout } = await promisify(execFile)(process.execPath, [path.join(ROOT, 'examples/tour', program)], {
      env: { ...env, EXAMPLES_DATABASE_URL: database.url },
    });

    assert.deepEqual(stdout.trimEnd().split('\n'), lines);
  });
}
