import assert from 'node:assert/strict';
import test from 'node:test';
import { openJobRoom } from '../../test/job-fixture.ts';
import { until } from '../../test/until.ts';
import { wavFile } from '../../test/wav.ts';
import { claimNextJob } from '../jobs/queue/claim.ts';
import { systemClock } from '../platform/clock.ts';
import { openLog } from '../platform/log.ts';
import { newNodeId } from './data-directory.ts';
import { openNode } from './node.ts';

async function openEnvironment() {
  const room = await openJobRoom();
  const account = await room.account();
  const keptId = newNodeId();
  const signal = new AbortController().signal;
  const deps = { db: room.db, lockUrl: room.db.url, clock: systemClock, log: openLog('silent'), signal };
  return Object.assign(room, {
    keptId,
    /** A job that this process is said to work on. */
    async underWay(holder: string) {
      await room.transcribe(account, wavFile(0.1), { async: 'true' });
      return (await claimNextJob(room.db, 60_000, holder))!.id;
    },
    states: async () =>
      (await room.db.rows<{ state: string }>({ text: 'select state from jobs order by created_at, id' })).map(
        ({ state }) => state,
      ),
    open: (id = keptId) => openNode({ ...deps, keptId: id }),
  });
}

test('a node that starts again returns the jobs of all its processes to the queue, and no others', async () => {
  await using room = await openEnvironment();
  for (const holder of [`${room.keptId}/a`, `${room.keptId}/b`, `${newNodeId()}/a`]) await room.underWay(holder);

  const node = await room.open();

  assert.equal(node.id, room.keptId);
  assert.deepEqual(await room.states(), ['queued', 'queued', 'processing']);
  await node.close();
});

test('a job survives several crashes of its node, but neither three of its process nor a node that it brings down for ever', async () => {
  await using room = await openEnvironment();
  const id = await room.underWay(`${room.keptId}/a`);
  const attempts = async () =>
    (await room.db.rows<{ attempts: number }>({ text: 'select attempts from jobs' }))[0]!.attempts;
  const seen = [];
  for (let crash = 1; crash <= 12; crash++) {
    const node = await room.open();
    await node.close();
    seen.push(await attempts());
    assert.equal((await claimNextJob(room.db, 60_000, `${room.keptId}/a`))?.id, id);
  }
  const node = await room.open();
  await node.release(`${room.keptId}/a`);

  assert.deepEqual(seen, [...Array(9).fill(0), 1, 2, 3]);
  assert.equal(await attempts(), 4);
  await node.close();
});

test('of two nodes with one name the second goes by another, and leaves the jobs of the first alone', async () => {
  await using room = await openEnvironment();
  const first = await room.open();
  await room.underWay(`${first.id}/a`);

  const second = await room.open();

  assert.notEqual(second.id, first.id);
  assert.deepEqual(await room.states(), ['processing']);
  await second.close();
  await first.close();
});

test('a node whose connection was cut keeps its name', async () => {
  await using room = await openEnvironment();
  const first = await room.open();
  const holders = async () =>
    await room.db.rows<{ pid: number }>({
      text: `select pid from pg_locks where locktype = 'advisory' and granted
        and database = (select oid from pg_database where datname = current_database())`,
    });
  const [before] = await holders();

  await room.db.rows({ text: 'select pg_terminate_backend($1)', values: [before!.pid] });
  await until('the lock to be taken again', async () => (await holders()).some(({ pid }) => pid !== before!.pid));
  const second = await room.open();

  assert.notEqual(second.id, first.id);
  await second.close();
  await first.close();
});

test('the jobs of a process that ended go back to the queue, those of its successor stay', async () => {
  await using room = await openEnvironment();
  const node = await room.open();
  await room.underWay(`${node.id}/old`);
  await room.underWay(`${node.id}/new`);

  await node.release(`${node.id}/old`);

  assert.deepEqual(await room.states(), ['queued', 'processing']);
  await node.close();
});
