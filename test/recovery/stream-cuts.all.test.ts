import assert from 'node:assert/strict';
import test from 'node:test';
import { openTestDatabase } from '../fixtures/database/test-database.ts';
import { followThroughCuts } from './stream-cuts.ts';

const SEED = Number(process.env['TEST_STREAM_SEED'] ?? 1);
// For a longer run.
const EVENTS = Number(process.env['TEST_STREAM_EVENTS'] ?? 10_000);

test(`a client receives ${EVENTS} events through cuts and restarts of the service (seed ${SEED})`, async (t) => {
  await using db = await openTestDatabase();

  const result = await followThroughCuts(db, { events: EVENTS, cuts: 40, restarts: 10, seed: SEED });

  t.diagnostic(JSON.stringify(result));
  assert.deepEqual([result.lost, result.misplaced], [[], []]);
  assert.equal(result.received, EVENTS);
  assert.ok(result.connections > 40);
});
