import assert from 'node:assert/strict';
import { test } from 'node:test';
import { missingInSources, readDutyPage } from '../../../test/fixtures/duty-page.ts';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';

const HOST = 'hooks.example.com:8443';
const { statements, logLines, metrics } = readDutyPage('webhooks/deliveries');

test('the statements of the page on the deliverer show what waits', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account, `https://${HOST}/hook?a=b`);
  for (let i = 0; i < 3; i++) await fixture.emit(account);

  const answers = [];
  for (const text of statements) answers.push(await fixture.db.rows<Record<string, unknown>>({ text }));

  const [owners, waiting, attempts, outcomes, transactions, times] = answers;
  assert.deepEqual(
    waiting!.map((row) => [row['webhook_id'], row['waiting'], row['due'], row['state'], row['host']]),
    [[webhook.id, 3, 3, 'active', HOST]],
  );
  assert.deepEqual([owners!.length, attempts, outcomes, transactions, times!.length], [1, [], [], [], 1]);
  assert.equal(statements.length, 6);
  // Its own test is beside the page of the queue.
  const [onTransactions] = readDutyPage('jobs/queue').statements.slice(-1);
  assert.equal(statements[4]!.replace('(5)', '(6)'), onTransactions);
});

test('every log line and metric of the page on the deliverer exists', () => {
  // `logFailure` adds that something failed; a long line is cut on the page.
  const sourceOf = (line: string) => line.replace(/^((?:reading|heartbeat).*) failed$/, '$1').replace(/…$/, '');

  assert.ok(logLines.length > 5 && metrics.length > 2);
  assert.deepEqual(missingInSources([...logLines.map(sourceOf), ...metrics]), []);
});
