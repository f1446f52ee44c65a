import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { channelsWav } from '../../../test/fixtures/audio/test-audio.ts';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { costUnits, unitsFromCredits } from '../../rules/jobs/price.ts';
import { eraseEndedAudio } from '../retention/audio-sweep.ts';

const CRASH_WORKER = fileURLToPath(new URL('../../../test/fixtures/processes/crash-worker.ts', import.meta.url));
// More than a job has. The loop ends when the worker finished before the step at which it would be killed.
const MOST_STEPS = 60;
const PRO_RATE = 2;

const twoChannels = (seconds: number) => {
  const left = new Int16Array(seconds * 16_000);
  return channelsWav([left.fill(3_000), left.map((sample, at) => (at % 8 < 4 ? sample : -sample))]);
};

for (const { title, seconds, holds, audio = wavFile, channels = 1, every = 1 } of [
  { title: 'a job', seconds: 0.1, holds: 1 },
  { title: 'a job that is longer than it claims', seconds: 0.3, holds: 2 },
  {
    title: 'a job of two channels that are longer than they claim',
    seconds: 0.3,
    holds: 3,
    audio: twoChannels,
    channels: 2,
    // Each step takes four runs of ffmpeg.
    every: 3,
  },
]) {
  test(`${title} ends exactly once, at whichever statement or commit its worker is killed`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account({ credits: 100 });
    let stopAt = 1;
    let jobs = 0;

    for (let isAllDone = false; !isAllDone; stopAt += every) {
      assert.ok(stopAt < MOST_STEPS, 'the worker never finished');
      jobs += 1;
      const fields = { async: 'true', multichannel: String(channels > 1) };
      const { id } = (await fixture.transcribe(account, audio(0.1), fields)).json;
      const [name] = await fixture.files();
      await writeFile(path.join(fixture.folder, name!), audio(seconds));
      await runAndKill(fixture.db.url, fixture.folder, stopAt);
      isAllDone = (await fixture.files()).length === 0 && (await fixture.job(account, id)).status === 'completed';

      await fixture.db.run({ text: `update jobs set next_at = clock_timestamp() where state = 'processing'` });
      const worker = await fixture.startWorker(openFakeEngine({ says: 'second' }));
      const job = await fixture.ended(account, id);
      await worker.stop();
      await eraseEndedAudio(fixture, 0);

      assert.equal(job.status, 'completed', `killed at step ${stopAt}`);
      assert.deepEqual(
        await traces(fixture, id),
        { events: 1, holds, captures: 1, releases: 0 },
        `killed at step ${stopAt}`,
      );
      assert.deepEqual(await fixture.files(), [], `killed at step ${stopAt}`);
    }

    // Read the queue, claim, end the job with ledger and event, notify and erase:
    // fewer steps would mean that they were not counted.
    assert.ok(stopAt > 5, `${stopAt} steps`);
    const [balance] = await fixture.db.rows({ text: 'select amount, held from accounts' });
    const spent = jobs * costUnits(channels * seconds * 1000, PRO_RATE);
    assert.deepEqual(balance, { amount: unitsFromCredits(100) - spent, held: 0 });
  });
}

async function runAndKill(url: string, folder: string, stopAt: number): Promise<void> {
  const child = spawn(process.execPath, [CRASH_WORKER, url, folder, String(stopAt)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child.stdout, 'data'), exited]);
  child.kill('SIGKILL');
  const [, signal] = await exited;
  assert.equal(signal, 'SIGKILL');
}

async function traces(fixture: Awaited<ReturnType<typeof openJobFixture>>, jobId: string) {
  const [row] = await fixture.db.rows({
    text: `
      select (select count(*) from events where job_id = $1) as events,
        count(*) filter (where kind = 'hold') as holds,
        count(*) filter (where kind = 'capture') as captures,
        count(*) filter (where kind = 'release') as releases
      from ledger
      where job_id = $1`,
    values: [jobId],
  });
  return row;
}
