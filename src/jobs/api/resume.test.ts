import assert from 'node:assert/strict';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { AudioError } from '../../audio/audio-error.ts';
import { EngineError } from '../../engines/engine.ts';
import type { IdempotencyHandle } from '../../http/route.ts';
import { NO_IDEMPOTENCY_KEY } from '../../http/route.ts';

const resuming = (jobId: string): IdempotencyHandle => ({
  ...NO_IDEMPOTENCY_KEY,
  identify: () => ({ kind: 'resume', jobId }),
});

const ENDS = [
  {
    cause: new EngineError('engine_error', 'It broke.'),
    status: 200,
    jobs: 2,
    what: 'by a fault of the service is transcribed again',
  },
  {
    cause: new AudioError('No sound in it.'),
    status: 422,
    jobs: 1,
    what: 'because of its audio is answered as it ended',
  },
];
for (const { cause, status, jobs, what } of ENDS) {
  test(`a job that failed ${what} when its request is repeated`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    const engine = openFakeEngine();
    await fixture.startWorker(engine);
    const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
    (await engine.nextCall()).fail(cause);
    await fixture.ended(account, id);

    const answering = fixture.transcribe(account, wavFile(1), {}, undefined, resuming(id));
    if (jobs === 2) (await engine.nextCall()).say('hello');
    const answer = await answering;

    assert.equal(answer.status, status);
    assert.equal((await fixture.db.rows({ text: 'select 1 from jobs' })).length, jobs);
  });
}
