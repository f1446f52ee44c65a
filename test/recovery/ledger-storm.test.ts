import assert from 'node:assert/strict';
import test from 'node:test';
import { runLedgerStorm } from './ledger-storm.ts';

// A small piece of the storm that `node test/recovery/ledger-storm.ts 1000` makes, with more deaths to a job.
test('failures, cancels, erasures and kill -9 in the middle of it all neither lose nor make a unit', async (t) => {
  const report = await runLedgerStorm({ jobs: 160, seed: 20, killEveryMs: 500 });

  t.diagnostic(JSON.stringify(report));
  assert.ok(report.paidInPart > 0, 'no text was paid for in part');
  assert.ok(report.kills > 1 && report.canceled > 0 && report.failed > 2 && report.completed > 10);
});
