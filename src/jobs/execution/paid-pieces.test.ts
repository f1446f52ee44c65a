import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Database } from '../../db/database.ts';

test('pieces whose write is under way when the job fails are charged', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account({ credits: 2 });
  const { json } = await fixture.transcribe(account, wavFile(60), { async: 'true' });
  const [name] = await fixture.files();
  // Longer than the probe found, and than the balance covers.
  await writeFile(path.join(fixture.folder, name!), wavFile(150));
  const shortage = Promise.withResolvers<void>();
  const transaction: Database['transaction'] = async (work) =>
    await fixture.db.transaction(work).finally(() => shortage.resolve());
  const run: Database['run'] = async (statement) => {
    if (statement.name === 'save_job_pieces') {
      // The end of the job follows the shortage at once.
      await shortage.promise;
      await fixture.db.rows({ text: 'select pg_sleep(1)' });
    }
    return await fixture.db.run(statement);
  };

  await fixture.startWorker(openFakeEngine({ says: 'one' }), { db: { ...fixture.db, run, transaction } });
  const job = await fixture.ended(account, json.id);

  assert.deepEqual([job.status, job.error.type], ['failed', 'insufficient_balance']);
  assert.ok(job.cost > 0, `${job.cost} credits`);
});
