import assert from 'node:assert/strict';
import test from 'node:test';
import { runLedgerStorm } from './ledger-storm.ts';

// Fewer jobs than `node test/recovery/ledger-storm.ts 1000`, and more kills for each job.
test('the ledger neither loses nor makes a unit through failures, cancellations, erasures and kill -9', async (t) => {
  const report = await runLedgerStorm({ jobs: 160, seed: 20, killEveryPieces: 12 });

  t.diagnostic(JSON.stringify(report));
  assert.ok(report.paidInPart > 0, 'no text was paid for in part');
  assert.ok(report.kills > 3 && report.canceled > 0 && report.failed > 2 && report.completed > 10);
});
