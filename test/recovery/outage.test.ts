import assert from 'node:assert/strict';
import test from 'node:test';
import { OUTAGES, outageProblems, runOutage } from '../faults/outage.ts';

// Long enough for every kind of wait for the database to run out; `node test/faults/outages.ts` takes minutes.
const AWAY_MS = 6_000;

for (const outage of OUTAGES) {
  test(`while the database is ${outage}, callers hear 503 with Retry-After; afterwards all goes on and nothing is lost`, async () => {
    const report = await runOutage(outage, AWAY_MS);

    assert.deepEqual(outageProblems(report), []);
  });
}
