import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';

const AUDIO = wavFile(0.1);
const READ = '/v1/jobs/:id';

test('a request with wait is answered when the job ends', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = openFakeEngine();
  await fixture.startWorker(engine);
  const { id } = (await fixture.transcribe(account, AUDIO, { async: '1' })).json;
  const call = await engine.nextCall();
  const waiting = fixture.get(account, READ, { params: { id }, query: { wait: 60 } });

  call.say('done');
  const { status, json } = await waiting;

  assert.deepEqual([status, json.status, json.text], [200, 'completed', 'done']);
  assert.equal((await fixture.get(account, READ, { params: { id }, query: { wait: 60 } })).json.text, 'done');
});

test('after the time, or without one, a waiting request is answered with the job as it is', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, AUDIO, { async: '1' })).json;

  for (const wait of [0, 0.01]) {
    const { status, json } = await fixture.get(account, READ, { params: { id }, query: { wait } });
    assert.deepEqual([status, json.status, json.queue_position], [200, 'queued', 1]);
  }
  const unknown = { params: { id: 'job_00000000000000000000000000' }, query: { wait: 60 } };
  assert.equal((await fixture.get(account, READ, unknown)).status, 404);
});

test('100 requests of an account may wait at once, and no longer count after their client has disconnected', async () => {
  await using fixture = await openJobFixture();
  const [account, other] = [await fixture.account(), await fixture.account()];
  const { id } = (await fixture.transcribe(account, AUDIO, { async: '1' })).json;
  const otherId = (await fixture.transcribe(other, AUDIO, { async: '1' })).json.id;
  const hangUp = new AbortController();
  const wait = { params: { id }, query: { wait: 60 } };
  const waiting = Array.from({ length: 100 }, () => fixture.get(account, READ, { ...wait, signal: hangUp.signal }));

  const refused = await fixture.get(account, READ, wait);
  const ofOther = await fixture.get(other, READ, { params: { id: otherId }, query: { wait: 0.01 } });
  hangUp.abort();
  await Promise.all(waiting);
  const later = await fixture.get(account, READ, { params: { id }, query: { wait: 0.01 } });

  assert.deepEqual(
    [refused.status, refused.json.error.type, refused.headers['retry-after']],
    [429, 'rate_limited', '5'],
  );
  assert.deepEqual([ofOther.status, later.status], [200, 200]);
});
