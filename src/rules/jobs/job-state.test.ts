import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isTerminal, JOB_STATES } from './job-state.ts';

test('a job ends in completed, failed or canceled, and can be canceled before', () => {
  assert.deepEqual(JOB_STATES.filter(isTerminal), ['completed', 'failed', 'canceled']);
});
