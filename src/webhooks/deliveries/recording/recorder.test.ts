import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeOn } from '../../../../test/fixtures/runtime.ts';
import type { Database } from '../../../db/database.ts';
import type { Clock } from '../../../platform/clock.ts';
import { openMetrics } from '../../../platform/metrics.ts';
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
  const db = { rows: timedOut, run: timedOut, transaction: timedOut } as unknown as Database;
  const clock: Clock = {
    now: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
  const recorder = new Recorder(runtimeOn(db, { clock }), () => assert.fail('recorded'));
  const end = recorder.record({ attemptId: 'dlv_x', succeeded: false, completedAt: new Date(0) } as FinishedAttempt);

  await recorder.finish();

  assert.deepEqual(await end, { kind: 'failed' });
  assert.ok(nowMs < 2 * STATEMENT_TIMEOUT_MS, `${tries} tries lasted ${nowMs} ms`);
});

test('an attempt that the database refuses to record is not counted as recorded', async () => {
  const refused = async () => {
    throw Object.assign(new Error('permission denied for table attempts'), { code: '42501' });
  };
  const db = { rows: refused, run: refused, transaction: refused } as unknown as Database;
  const metrics = openMetrics();
  const recorder = new Recorder(runtimeOn(db, { metrics }), () => assert.fail('recorded'));

  const attempt = { attemptId: 'dlv_x', succeeded: true, completedAt: new Date(0) } as FinishedAttempt;
  const end = await recorder.record(attempt);

  assert.deepEqual([end, (await metrics.attempts.get()).values], [{ kind: 'failed' }, []]);
});
