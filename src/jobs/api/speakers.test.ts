import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { reportEngine } from './engine-store.ts';

test('without a speaker model a request for speakers is refused, says what to do, and no job is created', async () => {
  await using fixture = await openJobFixture({ VERBATIM_COMMAND: 'bin/verbatim' });
  const account = await fixture.account();
  await reportEngine(fixture.db, 'pro', openFakeEngine());
  await reportEngine(fixture.db, 'lite', openFakeEngine(), true);
  const send = (diarize: string, plan = 'pro') =>
    fixture.transcribe(account, wavFile(1), { async: 'true', diarize, plan });

  const refused = await send('true');
  const accepted = [await send('false'), await send('true', 'lite')];

  assert.deepEqual(
    [refused.status, refused.json.error.type, refused.json.error.param],
    [400, 'invalid_request', 'diarize'],
  );
  assert.match(refused.json.error.message, / bin\/verbatim models pull speakers\./);
  assert.deepEqual(
    accepted.map(({ status }) => status),
    [202, 202],
  );
  assert.equal((await fixture.files()).length, accepted.length);
});

test('a job whose node has no speaker model completes with a warning', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await fixture.startWorker(openFakeEngine({ says: 'hello there' }));

  const { json } = await fixture.transcribe(account, wavFile(1), { diarize: 'true', timestamps: 'word' });

  assert.deepEqual([json.status, json.text, json.speakers], ['completed', 'hello there', null]);
  assert.deepEqual([json.segments[0].speaker, json.segments[0].words[1].speaker], [null, null]);
  assert.deepEqual(
    json.warnings.map(({ code }: { code: string }) => code),
    ['speakers_unavailable'],
  );
});
