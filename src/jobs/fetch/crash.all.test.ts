import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { jsonUpload, openJobFixture } from '../../../test/fixtures/job.ts';
import { openAudioServer, serveFile } from '../../../test/fixtures/servers/audio-server.ts';
import { testAuthority } from '../../../test/fixtures/webhooks/receiver.ts';
import { correctQueueCounts } from '../queue/queue-count.ts';
import { eraseEndedAudio } from '../retention/audio-sweep.ts';
import { returnFetchesOf } from './fetch-store.ts';

const CRASH_FETCHER = fileURLToPath(new URL('../../../test/fixtures/processes/crash-fetcher.ts', import.meta.url));
// More than a fetch has.
const MOST_STEPS = 40;

test('a job is fetched and ends exactly once, at whichever statement or commit its fetcher is killed', async () => {
  await using server = await openAudioServer(serveFile(wavFile(0.1)));
  const env = { AUDIO_URL_ALLOWED_TARGETS: `127.0.0.1/32:${server.port}` };
  await using fixture = await openJobFixture(env);
  const caFile = path.join(fixture.folder, 'ca.pem');
  await writeFile(caFile, testAuthority.cert);
  const account = await fixture.account({ credits: 100 });
  let stopAt = 1;

  for (let isAllDone = false; !isAllDone; stopAt++) {
    assert.ok(stopAt < MOST_STEPS, 'the fetcher never finished');
    const body = jsonUpload({ audio_url: `${server.origin}/a.wav`, async: true });
    const { id } = (await fixture.post(account, '/v1/transcribe', body)).json;
    const args = [CRASH_FETCHER, fixture.db.url, fixture.folder, String(stopAt), 'node_x/fetcher'];
    const child = spawn(process.execPath, args, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, ...env, NODE_EXTRA_CA_CERTS: caFile },
    });
    const exited = once(child, 'exit');
    await Promise.race([once(child.stdout, 'data'), exited]);
    child.kill('SIGKILL');
    assert.equal((await exited)[1], 'SIGKILL');
    isAllDone = (await fixture.job(account, id)).audio.format === 'wav';

    await returnFetchesOf(fixture.db, 'node_x/');
    const fetcher = await fixture.startFetcher();
    const worker = await fixture.startWorker(openFakeEngine({ says: 'hello' }));
    const job = await fixture.ended(account, id);
    await Promise.all([fetcher.stop(), worker.stop()]);
    await eraseEndedAudio(fixture, 0);

    const [traces] = await fixture.db.rows({
      text: `
        select (select count(*) from events where job_id = $1) as events,
          count(*) filter (where kind = 'hold') as holds, count(*) filter (where kind = 'capture') as captures
        from ledger
        where job_id = $1`,
      values: [id],
    });
    assert.equal(job.status, 'completed', `killed at step ${stopAt}`);
    assert.deepEqual(traces, { events: 1, holds: 1, captures: 1 }, `killed at step ${stopAt}`);
    // A file without a job is left to the sweep.
    const left = (await fixture.files()).filter((name) => name !== 'ca.pem');
    assert.ok(left.length <= 1, `killed at step ${stopAt}: ${left}`);
    for (const name of left) await rm(path.join(fixture.folder, name));
  }

  // Find, lock, claim, lock the job, delete, hold, store, begins and commits:
  // fewer would mean that steps were not counted.
  assert.ok(stopAt > 10, `${stopAt} steps`);
  assert.deepEqual(await fixture.db.rows({ text: 'select 1 from audio_fetches' }), []);
  assert.deepEqual(await correctQueueCounts(fixture.db), []);
});
