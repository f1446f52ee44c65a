import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../../test/fixtures/claim.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Database } from '../../db/database.ts';
import type { ClaimedJob, Outcome } from '../job.ts';
import { endJob } from './end.ts';
import type { RunningJob } from './end-store.ts';

const COMPLETED: Outcome = {
  ...{ kind: 'completed', model: 'fake', language: 'en', transcript: 'words', segments: '[]', speakers: null },
  ...{ words: null, warnings: [], durationMs: 1000, chargedMs: 1000 },
};
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
  const end = (expected: RunningJob | null) =>
    endJob({ db, rates: { lite: 1, pro: 2 }, firstDelayMs: 0, search: false }, claimed, COMPLETED, expected);
  return Object.assign(fixture, { account, claimed, reads, end });
}

const asClaimed = ({ heldUnits, transcribedUnits, progress, startedAt }: ClaimedJob): RunningJob => ({
  ...{ heldUnits, transcribedUnits, progress, moment: startedAt! },
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
