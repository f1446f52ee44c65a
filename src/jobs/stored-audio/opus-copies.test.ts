import assert from 'node:assert/strict';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import test from 'node:test';
import { toneWav } from '../../../test/fixtures/audio/test-audio.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { openManualClock } from '../../../test/fixtures/manual-clock.ts';
import { TEST_TOOLS } from '../../../test/fixtures/tools.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { JobHead } from '../job.ts';
import { findJob } from '../store.ts';
import { OpusCopies } from './opus-copies.ts';

const { signal } = new AbortController();

/** Jobs with audio, and the scratch files that were opened and closed. */
async function openEnvironment() {
  const fixture = await openJobFixture();
  const account = await fixture.account();
  const clock = openManualClock();
  const files = { opened: 0, closed: 0 };
  const storage = {
    ...fixture.storage,
    async openScratch() {
      files.opened += 1;
      const file = await fixture.storage.openScratch();
      const close = file.close.bind(file);
      file.close = async () => {
        files.closed += 1;
        await close();
      };
      return file;
    },
  };
  return {
    clock,
    files,
    copies: new OpusCopies({ ...fixture, clock, storage, tools: TEST_TOOLS }),
    async job(): Promise<JobHead> {
      const { json } = await fixture.transcribe(account, toneWav('a'), { async: 'true' });
      return (await findJob(fixture.db, { shard: account.shard, accountId: account.id, id: json.id }))!;
    },
    [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose](),
  };
}

test('a copy is made once for all who ask at once, and dropped ten minutes after it was read', async () => {
  await using environment = await openEnvironment();
  const { copies, clock, files } = environment;
  const job = await environment.job();

  const opened = await Promise.all([0, 1, 2].map(() => copies.open(job, job.audioKey!, signal)));
  const bytes = await Promise.all(opened.map(({ read, sizeBytes }) => buffer(read({ first: 0, last: sizeBytes - 1 }))));
  const reading = opened[0]!.read({ first: 0, last: 99 });
  await clock.advance(600_000);
  const whileRead = files.closed;
  reading.destroy();
  await once(reading, 'close');
  const afterHangUp = await buffer(opened[0]!.read({ first: 100, last: 199 }));
  await clock.advance(600_000);
  await until('the file is closed', () => files.closed === 1);

  assert.ok(bytes.every((each) => each.equals(bytes[0]!) && each.length === opened[0]!.sizeBytes));
  assert.ok(afterHangUp.equals(bytes[0]!.subarray(100, 200)));
  assert.deepEqual([files.opened, whileRead], [1, 0]);
});

test('who hangs up leaves no file, and the next one gets a copy', async () => {
  await using environment = await openEnvironment();
  const { copies, files } = environment;
  const job = await environment.job();
  const hangUp = new AbortController();

  const given = copies.open(job, job.audioKey!, hangUp.signal);
  const next = copies.open(job, job.audioKey!, signal);
  hangUp.abort(new Error('hung up'));

  await assert.rejects(given, /hung up/);
  assert.ok((await next).sizeBytes > 0);
  await until('the first file is closed', () => files.closed === files.opened - 1);
});
