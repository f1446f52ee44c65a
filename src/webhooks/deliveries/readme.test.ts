import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';

const SRC = path.join(import.meta.dirname, '../..');
const PAGE = readFileSync(path.join(import.meta.dirname, 'README.md'), 'utf8');
const sources = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !file.endsWith('.test.ts'))
  .map((file) => readFileSync(path.join(SRC, file), 'utf8'))
  .join('\n');

test('the statements of the page on the deliverer show what waits', async () => {
  await using fixture = await openDeliveryFixture();
  const account = await fixture.account();
  const webhook = await fixture.webhook(account);
  for (let i = 0; i < 3; i++) await fixture.emit(account);
  const statements = [...PAGE.matchAll(/```sql\n(.*?);\n```/gs)].map((match) => match[1]!);

  const answers = [];
  for (const text of statements) answers.push(await fixture.db.rows<Record<string, unknown>>({ text }));

  const [owners, waiting, attempts, outcomes, transactions, times] = answers;
  assert.deepEqual(
    waiting!.map((row) => [row['webhook_id'], row['waiting'], row['due'], row['state'], row['failures']]),
    [[webhook.id, 3, 3, 'active', 0]],
  );
  assert.deepEqual([owners!.length, attempts, outcomes, transactions, times!.length], [1, [], [], [], 1]);
  assert.equal(statements.length, 6);
});

test('every log line and metric of the page on the deliverer exists', () => {
  const lines = [...PAGE.matchAll(/\blog `([^`]+)`/g)].map((match) => match[1]!);
  const metrics = PAGE.match(/\bverbatim_[a-z_]+\b/g) ?? [];
  // `logFailure` adds that something failed; a long line is cut on the page.
  const sourceOf = (line: string) => line.replace(/^((?:reading|heartbeat).*) failed$/, '$1').replace(/…$/, '');

  assert.ok(lines.length > 5 && metrics.length > 2);
  assert.deepEqual(
    [...lines.map(sourceOf), ...metrics].filter((text) => !sources.includes(text)),
    [],
  );
});
