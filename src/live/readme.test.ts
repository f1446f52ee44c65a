import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession } from '../../test/fixtures/begun-session.ts';
import { missingInSources, readDutyPage } from '../../test/fixtures/duty-page.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';

const { statements, logLines, metrics } = readDutyPage('live');

test('the statements of the page on live sessions show what is open, and what is left', async () => {
  await using fixture = await openJobFixture();
  const { db } = fixture;
  const account = await fixture.account();
  const open = await beginSession(fixture, account);
  const ended = await beginSession(fixture, account);
  await db.run({ text: 'update live_sessions set durable_bytes = 96000, segments = 2' });
  await db.run({
    text: `update jobs set state = 'canceled', next_at = null, completed_at = now() where id = $1`,
    values: [ended],
  });

  const [sessions, rows] = await Promise.all(
    statements.map(async (text) => await db.rows<Record<string, unknown>>({ text })),
  );

  assert.deepEqual(
    sessions!.map((row) => ['job_id', 'account_id', 'state', 'holder', 'segments'].map((name) => row[name])),
    [[open, account.id, 'queued', null, 2]],
  );
  assert.equal(Number(sessions![0]!['audio_seconds']), 3);
  assert.deepEqual(
    rows!.map((row) => [row['sessions'], row['ended']]),
    [[2, 1]],
  );
  assert.equal(statements.length, 2);
});

test('every log line and metric of the page on live sessions exists', () => {
  assert.ok(logLines.length > 8 && metrics.length > 4);
  assert.deepEqual(missingInSources([...logLines, ...metrics]), []);
});
