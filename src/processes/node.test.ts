import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../test/fixtures/audio/wav.ts';
import { claimNextJob } from '../../test/fixtures/claim.ts';
import { openJobFixture } from '../../test/fixtures/job.ts';
import { until } from '../../test/fixtures/until.ts';
import { systemClock } from '../platform/clock.ts';
import { openLog } from '../platform/log.ts';
import { newNodeId } from './data-directory.ts';
import { openNode } from './node.ts';

async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const keptId = newNodeId();
  const signal = new AbortController().signal;
  const deps = { db: fixture.db, lockUrl: fixture.db.url, clock: systemClock, log: openLog('silent'), signal };
  return Object.assign(fixture, {
    keptId,
    /** A job that this process is said to work on. */
    async underWay(holder: string) {
      await fixture.transcribe(account, wavFile(0.1), { async: 'true' });
      return (await claimNextJob(fixture.db, 60_000, holder))!.id;
    },
    states: async () =>
      (await fixture.db.rows<{ state: string }>({ text: 'select state from jobs order by created_at, id' })).map(
        ({ state }) => state,
      ),
    open: (id = keptId) => openNode({ ...deps, keptId: id }),
  });
}

test('a node that starts again returns the jobs of all its processes to the queue, and no others', async () => {
  await using fixture = await openEnvironment();
  for (const holder of [`${fixture.keptId}/a`, `${fixture.keptId}/b`, `${newNodeId()}/a`])
    await fixture.underWay(holder);

  const node = await fixture.open();

  assert.equal(node.id, fixture.keptId);
  assert.deepEqual(await fixture.states(), ['queued', 'queued', 'processing']);
  await node.close();
});

test('a job survives several crashes of its node, but neither three of its process nor a node that it brings down for ever', async () => {
  await using fixture = await openEnvironment();
  const id = await fixture.underWay(`${fixture.keptId}/a`);
  const attempts = async () =>
    (await fixture.db.rows<{ attempts: number }>({ text: 'select attempts from jobs' }))[0]!.attempts;
  const seen = [];
  for (let crash = 1; crash <= 12; crash++) {
    const node = await fixture.open();
    await node.close();
    seen.push(await attempts());
    assert.equal((await claimNextJob(fixture.db, 60_000, `${fixture.keptId}/a`))?.id, id);
  }
  const node = await fixture.open();
  await node.release(`${fixture.keptId}/a`);

  assert.deepEqual(seen, [...Array(9).fill(0), 1, 2, 3]);
  assert.equal(await attempts(), 4);
  await node.close();
});

test('of two nodes with one name the second goes by another, and leaves the jobs of the first alone', async () => {
  await using fixture = await openEnvironment();
  const first = await fixture.open();
  await fixture.underWay(`${first.id}/a`);

  const second = await fixture.open();

  assert.notEqual(second.id, first.id);
  assert.deepEqual(await fixture.states(), ['processing']);
  await second.close();
  await first.close();
});

test('a node whose connection was cut keeps its name', async () => {
  await using fixture = await openEnvironment();
  const first = await fixture.open();
  const holders = async () =>
    await fixture.db.rows<{ pid: number }>({
      text: `select pid from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`,
    });
  const [before] = await holders();

  await fixture.db.rows({ text: 'select pg_terminate_backend($1)', values: [before!.pid] });
  await until('the lock to be taken again', async () => (await holders()).some(({ pid }) => pid !== before!.pid));
  const second = await fixture.open();

  assert.notEqual(second.id, first.id);
  await second.close();
  await first.close();
});

test('the jobs of a process that ended go back to the queue, those of its successor stay', async () => {
  await using fixture = await openEnvironment();
  const node = await fixture.open();
  await fixture.underWay(`${node.id}/old`);
  await fixture.underWay(`${node.id}/new`);

  await node.release(`${node.id}/old`);

  assert.deepEqual(await fixture.states(), ['queued', 'processing']);
  await node.close();
});
