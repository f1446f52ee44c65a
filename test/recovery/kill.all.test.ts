import assert from 'node:assert/strict';
import test from 'node:test';
import { openDatabase } from '../../src/db/database.ts';
import { openAccount } from '../faults/clients.ts';
import { killProblems, runKills } from '../faults/kills.ts';
import { openServiceUnderLoad } from '../faults/service-under-load.ts';
import { toneWav } from '../fixtures/audio/test-audio.ts';
import { until } from '../fixtures/until.ts';
import { openReceiver } from '../fixtures/webhooks/receiver.ts';

// Short versions; `node test/faults/run.ts --kills 1000` is the long one.
for (const [kind, seed] of [
  ['embedded', 71],
  ['external', 72],
] as const) {
  const title = `nothing is lost and nothing ends twice when processes are killed under load, with the ${kind} PostgreSQL`;
  test(title, async () => {
    const report = await runKills({ kind, seed, kills: 10 });

    assert.deepEqual(killProblems(report), []);
    assert.ok(report.accepted > 0, 'no job was accepted: nothing was tested');
  });
}

test('a transcriber that was stopped past its lease changes nothing when it goes on', async () => {
  await using receiver = await openReceiver();
  await using service = await openServiceUnderLoad('external', receiver, { LOG_LEVEL: 'info' });
  const { key } = await openAccount(service, receiver);
  const db = openDatabase(service.databaseUrl, { maxConnections: 1 });
  const [frozen] = service.find('transcriber');
  const form = new FormData();
  form.append('async', 'true');
  form.append('file', new Blob([new Uint8Array(toneWav('so it is '.repeat(80)))]), 'tone.wav');

  // Stopped before the upload it would claim nothing; stopped in the claim's statement it would hold the row.
  const answer = await fetch(`${service.baseUrl}/v1/transcribe`, {
    method: 'POST',
    headers: { 'x-api-key': key },
    body: form,
  });
  const { id } = (await answer.json()) as { id: string };
  await until('the claim', async () => (await jobOf(id)).lease === 1);
  process.kill(frozen!, 'SIGSTOP');
  await db.run({
    text: `update jobs set next_at = clock_timestamp() where id = $1 and state = 'processing'`,
    values: [id],
  });
  await service.addNode('transcriber');
  await until('the end of the job by another', async () => (await jobOf(id)).state === 'completed');
  const ended = await jobOf(id);
  process.kill(frozen!, 'SIGCONT');
  await until('the log line of the stopped transcriber', () =>
    /a lease was lost|execution stopped/.test(service.logText()),
  );
  await receiver.waitFor(1);

  assert.equal(ended.lease, 2);
  assert.deepEqual(await jobOf(id), ended);
  assert.equal(ended.events, 1);
  await db.close();

  async function jobOf(jobId: string) {
    const [job] = await db.rows<{ state: string; lease: number; transcript: string; events: number }>({
      text: `select state, lease, transcript, (select count(*) from events where job_id = jobs.id) as events
        from jobs where id = $1`,
      values: [jobId],
    });
    return job!;
  }
});
