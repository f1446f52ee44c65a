import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import test from 'node:test';
import { webmOfTinyPackets } from '../../../test/fixtures/audio/bombs.ts';
import { openTestFolder } from '../../../test/fixtures/audio/test-audio.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';

// Too large for the thread that reads headers, and slow to parse.
const SLOW_BYTES = 30_000_000;
const SLOW_UPLOADS = 6;
const ASYNC = { async: 'true' };

test('an account whose files are slow to probe does not delay the files of other accounts', async () => {
  await using fixture = await openJobFixture();
  await using folder = await openTestFolder();
  // Like the slow files, it is probed by a child process.
  const ordinary = await readFile(await folder.encode('a.aiff', new Int16Array(16_000)));
  const slow = webmOfTinyPackets(SLOW_BYTES);
  const [hostile, other] = [await fixture.account(), await fixture.account()];
  let slowAnswers = 0;
  const sending = Array.from({ length: SLOW_UPLOADS }, async () => {
    const { status } = await fixture.transcribe(hostile, slow, ASYNC);
    slowAnswers += 1;
    return status;
  });
  await fixture.transcribe(other, ordinary, ASYNC);

  const { status } = await fixture.transcribe(other, ordinary, ASYNC);

  assert.equal(status, 202);
  // In the order of their arrival, all slow files would come before it.
  assert.ok(slowAnswers < SLOW_UPLOADS, `${slowAnswers} slow files were answered before`);
  assert.deepEqual(await Promise.all(sending), Array(SLOW_UPLOADS).fill(202));
});
