import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { COMPLETED } from '../../../test/fixtures/outcome.ts';
import type { Database } from '../../db/database.ts';
import { openLog } from '../../platform/log.ts';
import type { ClaimedJob } from '../job.ts';
import { endJob } from './end.ts';
import type { RunningJob } from './end-store.ts';

const SECOND_MS = 1_000;

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  await fixture.transcribe(account, wavFile(1), { async: 'true' });
  const claimed = (await claimNextJob(fixture.db, 60_000))!;
  const reads: string[] = [];
  const db: Database = {
    ...fixture.db,
    rows: (statement) => {
      if (statement.name === 'read_running_job') reads.push(statement.name);
      return fixture.db.rows(statement);
    },
  };
  const end = (expected: RunningJob | null) => endJob({ ...fixture, db }, claimed, COMPLETED, expected);
  return Object.assign(fixture, { account, claimed, reads, end });
}

const asClaimed = ({ heldUnits, transcribedUnits, progress, startedAt }: ClaimedJob): RunningJob => ({
  heldUnits,
  transcribedUnits,
  progress,
  moment: startedAt!,
});

test('a job that is as its worker expects ends at the expected time, without being read', async () => {
  await using fixture = await openEnvironment();
  const expected = asClaimed(fixture.claimed);

  const ended = await fixture.end(expected);

  assert.deepEqual([ended?.completedAt, fixture.reads], [expected.moment, []]);
  const job = await fixture.job(fixture.account, fixture.claimed.id);
  assert.deepEqual([job.status, job.completed_at], ['completed', expected.moment.toISOString()]);
});

for (const { title, change } of [
  { title: 'with a larger hold', change: { heldUnits: 9_000_000 } },
  { title: 'of which more was transcribed', change: { transcribedUnits: 1 } },
  { title: 'to end 6 s ago', change: { aheadMs: -6 * SECOND_MS } },
  { title: 'to end in a minute', change: { aheadMs: 60 * SECOND_MS } },
]) {
  test(`a job that its worker expects ${title} is read, and ends as it is`, async () => {
    await using fixture = await openEnvironment();
    const { aheadMs = 0, ...others } = change;
    const expected = asClaimed(fixture.claimed);
    const moment = new Date(expected.moment.getTime() + aheadMs);

    const ended = await fixture.end({ ...expected, ...others, moment });

    assert.deepEqual([ended?.state, ended?.heldUnits], ['completed', expected.heldUnits]);
    assert.deepEqual(fixture.reads, ['read_running_job']);
    const sinceMs = ended!.completedAt!.getTime() - expected.moment.getTime();
    assert.ok(sinceMs >= 0 && sinceMs < 60 * SECOND_MS, `${sinceMs} ms after the start`);
    const [account] = await fixture.db.rows<{ held: number }>({ text: 'select held from accounts' });
    assert.equal(account!.held, 0);
  });
}

test('a job that another worker has claimed does not end, whatever its first worker expects', async () => {
  await using fixture = await openEnvironment();
  await fixture.endLeases();
  await claimNextJob(fixture.db, 60_000);

  const ended = await fixture.end(asClaimed(fixture.claimed));

  assert.equal(ended, null);
  assert.equal((await fixture.job(fixture.account, fixture.claimed.id)).status, 'processing');
});

test('a worker whose connection is lost while it ends a job ends the job exactly once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 10 });
  // The first end loses its connection inside its transaction. Sequences do not roll back, so the second one succeeds.
  await fixture.db.run({ text: 'create sequence cuts' });
  await fixture.db.run({
    text: `create function cut() returns trigger language plpgsql as $$
      begin if nextval('cuts') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return new; end $$`,
  });
  await fixture.db.run({ text: 'create trigger cut before insert on events for each row execute function cut()' });
  const engine = openFakeEngine({ says: 'whole' });
  await fixture.startWorker(engine);

  const { json } = await fixture.transcribe(account, wavFile(0.1));

  assert.deepEqual([json.status, json.text, engine.count()], ['completed', 'whole', 1]);
  assert.equal((await fixture.db.rows({ text: 'select 1 from events' })).length, 1);
});

test('the log of a job contains ids, durations and the outcome, never text or metadata', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const lines: Record<string, unknown>[] = [];
  const log = openLog('silent');
  const keep = (line: Record<string, unknown>) => void lines.push(line);
  Object.assign(log, { info: keep, warn: keep, error: keep });
  const worker = await fixture.startWorker(openFakeEngine({ says: 'words-in-secret' }), { log });

  const { json } = await fixture.transcribe(account, wavFile(0.1), { metadata: '"meta-in-secret"' });
  await worker.stop();

  const line = lines.find((candidate) => candidate['job_id'] === json.id)!;
  assert.deepEqual([line['state'], line['audio_ms'], line['attempt']], ['completed', 100, 1]);
  assert.ok(!JSON.stringify(lines).includes('in-secret'));
});
