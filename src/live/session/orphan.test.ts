import assert from 'node:assert/strict';
import test from 'node:test';
import { beginSession } from '../../../test/fixtures/begun-session.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { noisySpeech } from '../../../test/fixtures/live.ts';
import { randomFrom } from '../../../test/fixtures/random.ts';
import { LiveJournal } from './journal.ts';
import { takeOverSession } from './take-over.ts';

test('an orphan ends once: it is counted once, and each segment is decoded once', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const id = await beginSession(fixture, account);
  const key = { shard: account.shard, accountId: account.id, id };
  const { job, row } = (await takeOverSession(fixture.db, key, 'node_test/http'))!;
  const entry = new LiveJournal(fixture).open({
    row,
    job,
    over: new AbortController().signal,
    acknowledge: () => undefined,
    loseLease: () => undefined,
    fail: () => undefined,
  });
  entry.append(noisySpeech(randomFrom(5), 2), { frame: 0, isSpeaking: false });
  await entry.flush();
  const engine = openFakeEngine({ says: 'the last words' });
  await fixture.endLeases();
  await fixture.startWorker(engine);

  const { status, text, warnings } = await fixture.ended(account, id);
  assert.deepEqual([status, text], ['completed', 'the last words']);
  assert.deepEqual(
    warnings.map(({ code }: { code: string }) => code),
    ['connection_lost'],
  );
  assert.equal(engine.count(), 1);
  assert.deepEqual(
    fixture.counted.map((job) => job.id),
    [id],
  );
});
