import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { ownNetworkCommand, runInOwnNetwork } from '../fixtures/servers/own-network.ts';

type Seen = {
  /** ms. */
  delays: number[];
  checks: number[];
  attempts: string[];
  changes: number[];
  overLimit: { status: number; type: string; asked: string[] };
};

const START_WITHIN_MS = 2_000;

const command = ownNetworkCommand();
test('names that nobody answers for delay and fail no delivery of another account, and no check of its urls', {
  skip: command === null && 'this system gives no network of its own (unshare, ip)',
}, async () => {
  const seen = (await runInOwnNetwork(command!, path.join(import.meta.dirname, 'slow-names-network.ts'))) as Seen;

  assert.ok(Math.max(...seen.delays) < START_WITHIN_MS, `deliveries began after ${seen.delays.map(Math.round)} ms`);
  assert.ok(Math.max(...seen.checks) < START_WITHIN_MS, `webhooks were made after ${seen.checks.map(Math.round)} ms`);
  assert.deepEqual(new Set(seen.attempts), new Set(['succeeded 1']));
  // A name that does not resolve in time is accepted.
  assert.deepEqual(new Set(seen.changes), new Set([200]));
  assert.deepEqual(seen.overLimit, { status: 403, type: 'plan_limit', asked: [] });
});
