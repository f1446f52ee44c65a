import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { beginSession } from '../../../test/fixtures/begun-session.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { until } from '../../../test/fixtures/until.ts';
import { openDeliveryFixture } from '../../../test/fixtures/webhooks/delivery.ts';
import { readConfig } from '../../config/settings.ts';
import { makeId } from '../../platform/clock.ts';
import { openLog } from '../../platform/log.ts';
import { openMetrics } from '../../platform/metrics.ts';
import { start } from './janitor.ts';

const DAY_MS = 86_400_000;

test('the janitor creates partitions at its start, and deletes old rows 10 s later', async () => {
  await using fixture = await openDeliveryFixture();
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'janitor-'));
  const [lite, pro] = [await fixture.account('lite'), await fixture.account('pro')];
  const old = new Date(Date.now() - 10 * DAY_MS);
  for (const account of [lite, pro]) {
    await fixture.emit(account, { now: old });
    await fixture.db.run({
      text: `insert into jobs (shard, id, account_id, state, plan, word_times, format, size_bytes, duration_ms, transcript,
          created_at, completed_at)
        values ($1, $2, $3, 'completed', 'lite', false, 'wav', 1, 1, 'text', $4, $4)`,
      values: [account.shard, makeId('job'), account.id, account === lite ? new Date(Date.now() - 31 * DAY_MS) : old],
    });
  }
  const config = readConfig({ DATA_DIR: dataDir });
  const sleeps = openManualClock();
  const clock = { ...sleeps, now: () => Date.now() };
  const context = {
    config,
    db: fixture.db,
    log: openLog('silent'),
    clock,
    metrics: openMetrics(),
    order: { storageId: null },
  };

  const owners = async (table: string) =>
    (await fixture.db.rows<{ owner: string }>({ text: `select account_id as owner from ${table}` })).map(
      (row) => row.owner,
    );
  const countDays = async () => {
    const text = `select count(*) as number from pg_inherits where inhparent = 'attempts'::regclass`;
    return (await fixture.db.rows<{ number: number }>({ text }))[0]!.number;
  };

  const janitor = await start(context);
  // Today, three days ahead, and the default one.
  await until('the partitions to be created', async () => (await countDays()) === 5);
  await sleeps.advance(9_999);
  const early = await owners('jobs');
  await sleeps.advance(1);
  await until('the old event and the old job to be deleted', async () => {
    return (await owners('events')).length === 1 && (await owners('jobs')).length === 1;
  });
  await janitor.stop();

  assert.equal(early.length, 2);
  assert.deepEqual([await owners('events'), await owners('jobs')], [[pro.id], [pro.id]]);
  await rm(dataDir, { recursive: true, force: true });
});

test('all live sessions that nobody connected to are canceled in one pass, and counted', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ plan: 'lite', credits: 3 });
  for (let begun = 0; begun < 3; begun += 1) await beginSession(fixture, account);
  await fixture.db.run({ text: 'update jobs set next_at = clock_timestamp()' });
  const sleeps = openManualClock();
  const metrics = openMetrics();
  const clock = { ...sleeps, now: () => Date.now() };
  const config = { ...fixture.config, dataDir: fixture.folder };
  const janitor = await start({
    config,
    db: fixture.db,
    log: openLog('silent'),
    clock,
    metrics,
    order: { storageId: null },
  });

  await sleeps.advance(10_000);
  await until('the sessions to be canceled', async () => {
    const left = await fixture.db.rows({ text: `select from jobs where state = 'queued'` });
    return left.length === 0;
  });
  await janitor.stop();

  assert.equal((await metrics.jobs.get()).values[0]!.value, 3);
});
