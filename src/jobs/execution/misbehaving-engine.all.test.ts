import assert from 'node:assert/strict';
import test from 'node:test';
import { wavOf } from '../../../test/fixtures/audio/wav.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import { childProcesses, isRunning } from '../../../test/fixtures/processes/children.ts';
import { MISDEEDS, type Misdeed } from '../../../test/fixtures/processes/misdeeds.ts';
import { until } from '../../../test/fixtures/until.ts';
import type { Engine } from '../../engines/engine.ts';
import { ChildPool } from '../../engines/process/child-pool.ts';
import { openLog } from '../../platform/log.ts';
import type { Warning } from '../../rules/jobs/warnings.ts';

/** Half a second of audio that names a misdeed. */
function audioFor(misdeed: Misdeed): Buffer {
  return wavOf(new Int16Array(8_000).fill(100 * MISDEEDS.indexOf(misdeed)));
}

/** An engine of one process that commits the misdeed named by the audio. */
function openMisbehavingEngine(): Engine & { pids(): number[] } {
  const pool = new ChildPool({
    module: new URL('../../../test/fixtures/processes/misbehaving-child.ts', import.meta.url),
    settings: {},
    environment: { PATH: process.env['PATH'] ?? '' },
    memoryMaxBytes: 400 * 2 ** 20,
    slots: 1,
    startAdvice: 'None.',
    log: openLog('silent'),
  });
  return {
    name: 'misbehaving',
    slots: 1,
    warmUp: async () => undefined,
    transcribe: (piece, options) => pool.transcribe(piece, options),
    pids: () => pool.pids(),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

const PIECE_TIMEOUT = { baseMs: 3_000, perAudioSecondMs: 0 };

const ENDS: [Misdeed, string][] = [
  ['hang', 'engine_timeout'],
  ['throw', 'engine_error'],
  ['no transcript', 'engine_error'],
  ['no segments', 'engine_error'],
  ['text that is a number', 'engine_error'],
  ['times that are no numbers', 'engine_error'],
];

for (const [misdeed, type] of ENDS) {
  test(`an engine's misdeed (${misdeed}) fails its job with ${type} and does not affect the next job`, async () => {
    await using fixture = await openJobFixture();
    await using engine = openMisbehavingEngine();
    const account = await fixture.account({ credits: 10 });
    await fixture.startWorker(engine, { concurrency: 1, pieceTimeout: PIECE_TIMEOUT });

    const { id } = (await fixture.transcribe(account, audioFor(misdeed), { async: 'true' })).json;
    const next = (await fixture.transcribe(account, audioFor('nothing'), { async: 'true' })).json;
    const job = await fixture.ended(account, id);

    assert.deepEqual([job.status, job.error?.type, job.text, job.cost], ['failed', type, null, 0]);
    assert.ok(!/secret|TypeError|undefined|property/.test(job.error.message), job.error.message);
    assert.equal((await fixture.ended(account, next.id)).text, 'well done');
    assert.equal((await fixture.db.rows({ text: `select 1 from ledger where kind = 'release'` })).length, 1);
  });
}

for (const misdeed of ['exit', 'segfault', 'noise', 'half a frame', 'memory'] as const) {
  test(`a piece that ends three processes (${misdeed}) has no text and a warning, and its job completes`, async () => {
    await using fixture = await openJobFixture();
    await using engine = openMisbehavingEngine();
    const account = await fixture.account();
    await fixture.startWorker(engine);

    const { id } = (await fixture.transcribe(account, audioFor(misdeed), { async: 'true' })).json;
    const job = await fixture.ended(account, id);
    const next = await fixture.transcribe(account, audioFor('nothing'));

    assert.deepEqual([job.status, job.text], ['completed', '']);
    assert.deepEqual(
      job.warnings.map(({ code, start, end }: Warning) => ({ code, start, end })),
      [{ code: 'untranscribed', start: 0, end: 0.5 }],
    );
    assert.equal(next.json.text, 'well done');
  });
}

test('an engine that returns no segments completes its job with an empty text', async () => {
  await using fixture = await openJobFixture();
  await using engine = openMisbehavingEngine();
  const account = await fixture.account();
  await fixture.startWorker(engine);

  const { json } = await fixture.transcribe(account, audioFor('empty'));

  assert.deepEqual([json.status, json.text, json.segments], ['completed', '', []]);
});

test('times outside of the audio are moved inside', async () => {
  await using fixture = await openJobFixture();
  await using engine = openMisbehavingEngine();
  const account = await fixture.account();
  await fixture.startWorker(engine);

  const { json } = await fixture.transcribe(account, audioFor('times before the start'));

  assert.deepEqual([json.status, json.segments[0].start, json.segments[0].end], ['completed', 0, 0.5]);
});

test('a crashed engine is restarted, and a closed engine leaves no process', async () => {
  await using fixture = await openJobFixture();
  const engine = openMisbehavingEngine();
  const account = await fixture.account();
  const worker = await fixture.startWorker(engine);
  const first = await until('the engine to start', () => engine.pids()[0]);

  await fixture.transcribe(account, audioFor('segfault'));
  const second = await until('the engine to be back', () => engine.pids().find((pid) => pid !== first));
  await fixture.transcribe(account, audioFor('hang'), { async: 'true' });
  await worker.stop();
  await engine[Symbol.asyncDispose]();

  assert.ok(!isRunning(first) && !isRunning(second));
  await until('all processes to be gone', () => childProcesses().length === 0);
});
