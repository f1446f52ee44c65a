import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Database } from '../../../db/database.ts';
import { openLog } from '../../../platform/log.ts';
import type { FinishedAttempt } from './finished-attempt.ts';
import { Recorder } from './recorder.ts';

const STATEMENT_TIMEOUT_MS = 4_000;

test('finish waits for one statement that times out and does not repeat it', async () => {
  let nowMs = 0;
  let tries = 0;
  const timedOut = async () => {
    tries += 1;
    nowMs += STATEMENT_TIMEOUT_MS;
    throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' });
  };
  const recorder = new Recorder({
    db: { rows: timedOut, run: timedOut, transaction: timedOut } as unknown as Database,
    config: { webhookDisableFailures: 10, webhookDisableMs: 0 },
    log: openLog('silent'),
    clock: {
      now: () => nowMs,
      sleep: async (ms) => {
        nowMs += ms;
      },
    },
    now: () => null,
    onStreak: () => assert.fail('recorded'),
  });
  const end = recorder.record({ attemptId: 'dlv_x', succeeded: false, completedAt: new Date(0) } as FinishedAttempt);

  await recorder.finish();

  assert.deepEqual(await end, { kind: 'failed' });
  assert.ok(nowMs < 2 * STATEMENT_TIMEOUT_MS, `${tries} tries lasted ${nowMs} ms`);
});
