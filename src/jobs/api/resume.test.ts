import assert from 'node:assert/strict';
import { rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { AudioError } from '../../audio/audio-error.ts';
import { EngineError } from '../../engines/engine.ts';
import { type IdempotencyHandle, NO_IDEMPOTENCY_KEY } from '../../http/route.ts';

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

const LOSSES = [
  { what: 'is whole', lose: async () => undefined, isReplaced: false },
  { what: 'is cut off', lose: (file: string) => truncate(file, 100), isReplaced: true },
  { what: 'is gone', lose: (file: string) => rm(file), isReplaced: true },
];
for (const { what, lose, isReplaced } of LOSSES) {
  test(`a queued job whose audio ${what} keeps one upload when its request is repeated, and completes`, async () => {
    await using fixture = await openJobFixture();
    const account = await fixture.account();
    const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
    const [before] = await fixture.files();
    await lose(path.join(fixture.folder, before!));

    const answer = await fixture.transcribe(account, wavFile(1), { async: 'true' }, undefined, resuming(id));
    const files = await fixture.files();
    await fixture.startWorker(openFakeEngine({ says: 'hello' }));

    assert.deepEqual([answer.status, answer.json.id], [202, id]);
    assert.equal(files.length, 1);
    assert.equal(files[0] !== before, isReplaced);
    assert.equal((await fixture.ended(account, id)).text, 'hello');
  });
}

test('a repeated request is told to wait while a transcriber reads the incomplete audio, and then makes a new job', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const { id } = (await fixture.transcribe(account, wavFile(1), { async: 'true' })).json;
  const [file] = await fixture.files();
  await truncate(path.join(fixture.folder, file!), 100);
  const claim = `update jobs set state = 'processing', lease = 1, attempts = 1, started_at = now(), next_at = now()`;
  await fixture.db.run({ text: claim });
  const repeat = () => fixture.transcribe(account, wavFile(1), { async: 'true' }, undefined, resuming(id));

  const early = await repeat();
  const filesThen = await fixture.files();
  await fixture.startWorker(openFakeEngine({ says: 'hello' }));
  assert.equal((await fixture.ended(account, id)).error.type, 'engine_error');
  const late = await repeat();

  assert.deepEqual([early.status, early.json.error.type, early.headers['retry-after']], [503, 'unavailable', '1']);
  assert.deepEqual(filesThen, [file]);
  assert.equal(late.status, 202);
  assert.equal((await fixture.ended(account, late.json.id)).text, 'hello');
});
