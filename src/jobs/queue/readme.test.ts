import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { missingInSources, readDutyPage } from '../../../test/fixtures/duty-page.ts';
import { jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { until } from '../../../test/fixtures/until.ts';

const { statements, logLines, metrics } = readDutyPage('jobs/queue');

test('the statements of the page for the person on duty show what is stuck', async () => {
  await using fixture = await openJobFixture({ AUDIO_URL_ALLOWED_TARGETS: '127.0.0.1/32:9' });
  const account = await fixture.account();
  const { db } = fixture;
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
  const { json: fetched } = await fixture.post(
    account,
    '/v1/transcribe',
    jsonUpload({ audio_url: 'https://127.0.0.1:9/a.wav', async: true }),
  );
  const abandoned = await claimNextJob(db, 0, 'node_x/transcriber');
  await db.run({ text: 'update job_queues set waiting = 7' });

  const answers = [];
  for (const text of statements) answers.push(await db.rows<Record<string, unknown>>({ text }));

  const [jobs, running, turns, counts, fetches, transactions] = answers;
  const found = (rows: Record<string, unknown>[] | undefined, names: string[]) =>
    rows!.map((row) => names.map((name) => row[name]));
  assert.deepEqual(found(jobs, ['state', 'count', 'without_audio', 'returned']).toSorted(), [
    ['processing', 1, 0, 0],
    ['queued', 2, 1, 0],
  ]);
  assert.deepEqual(found(running, ['id', 'holder', 'attempts']), [[abandoned!.id, 'node_x/transcriber', 1]]);
  assert.deepEqual(found(turns, ['account_id', 'waiting']), [[account.id, 7]]);
  assert.deepEqual(found(counts, ['account_id', 'counted', 'waiting']), [[account.id, 7, 1]]);
  assert.deepEqual(found(fetches, ['job_id', 'holder', 'tries']), [[fetched.id, null, 0]]);
  assert.deepEqual([transactions, statements.length], [[], 6]);
});

test('the statement on transactions shows the session that blocks others, at once and whatever program it belongs to', async () => {
  await using fixture = await openJobFixture();
  const { id } = await fixture.account();
  const { db } = fixture;
  const update = { text: 'update accounts set name = name where id = $1', values: [id] };
  type Session = { pid: number; application_name: string; blocked_by: number[] };
  let blocked: Promise<unknown> | null = null;
  const found = await db.transaction(async (tx) => {
    await tx.run({ text: `set local application_name = 'report'` });
    await tx.run(update);
    blocked = db.run(update);
    const [own] = await tx.rows<{ pid: number }>({ text: 'select pg_backend_pid() as pid' });
    return await until('the session that blocks to be shown', async () => {
      const sessions = await db.rows<Session>({ text: statements.at(-1)! });
      return sessions.find(({ pid }) => pid === own!.pid);
    });
  });
  await blocked;

  assert.deepEqual([found.application_name, found.blocked_by], ['report', []]);
});

test('every log line and metric of the page for the person on duty exists', () => {
  // The name of what is claimed is put before it.
  const sourceOf = (line: string) => line.replace(/^claiming (jobs|fetches) /, '');

  assert.ok(logLines.length > 8 && metrics.length > 1);
  assert.deepEqual(missingInSources([...logLines.map(sourceOf), ...metrics]), []);
});
