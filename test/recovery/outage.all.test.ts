import assert from 'node:assert/strict';
import test from 'node:test';
import { OUTAGES, outageProblems, runOutage } from '../faults/outage.ts';

// Longer than every timeout of the database; `node test/faults/outages.ts` runs for minutes.
const AWAY_MS = 6_000;

for (const outage of OUTAGES) {
  test(`while the database is ${outage}, requests are answered 503 with Retry-After; afterwards the service works again and nothing is lost`, async () => {
    const report = await runOutage(outage, AWAY_MS);

    assert.deepEqual(outageProblems(report), []);
  });
}
