import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wavFile } from '../../../test/fixtures/audio/wav.ts';
import { openFakeEngine } from '../../../test/fixtures/fake-engine.ts';
import { openJobFixture } from '../../../test/fixtures/job.ts';
import type { Warning } from '../../rules/jobs/warnings.ts';
import { reportEngine } from './engine-store.ts';

test('a language that the engine of the plan does not support is rejected and no job is created', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  await reportEngine(fixture.db, 'pro', { ...openFakeEngine(), languages: ['en', 'no', 'tl'] });
  await reportEngine(fixture.db, 'lite', { ...openFakeEngine(), languages: null });
  const send = (language: string, plan = 'pro') =>
    fixture.transcribe(account, wavFile(1), { async: 'true', language, plan });

  const refused = await send('de-AT');
  const accepted = [
    await send('en-US'),
    await send('nb'),
    await send('fil'),
    await send('tl'),
    await send('de', 'lite'),
  ];

  assert.equal(refused.status, 400);
  assert.deepEqual([refused.json.error.type, refused.json.error.param], ['invalid_request', 'language']);
  assert.match(
    refused.json.error.message,
    /does not know the language de-AT\. It knows: en, no, tl\. The operator .* can add it: verbatim models pull whisper-base$/,
  );
  assert.deepEqual(
    accepted.map(({ status }) => status),
    [202, 202, 202, 202, 202],
  );
  assert.equal((await fixture.files()).length, accepted.length);
});

test('while no engine has reported itself, every known language is accepted', async () => {
  await using fixture = await openJobFixture();

  const answer = await fixture.transcribe(await fixture.account(), wavFile(1), { async: 'true', language: 'sw' });

  assert.equal(answer.status, 202);
});

test('an engine with a shorter limit gets shorter pieces, and a text that may be cut is logged', async () => {
  await using fixture = await openJobFixture();
  const account = await fixture.account();
  const engine = { ...openFakeEngine(), maxPieceSeconds: 29.4 };
  await fixture.startWorker(engine, { concurrency: 1 });
  const { json } = await fixture.transcribe(account, wavFile(29.8), { async: 'true' });

  const lengths: number[] = [];
  for (const isCut of [true, false]) {
    const call = await engine.nextCall();
    lengths.push(call.piece.length / 16_000);
    call.answer({ segments: [], language: null, ...(isCut && { isCut }) });
  }
  const job = await fixture.ended(account, json.id);

  assert.equal(job.status, 'completed');
  assert.ok(Math.max(...lengths) <= 29.4 && Math.abs(lengths[0]! + lengths[1]! - 29.8) < 1e-6, String(lengths));
  assert.deepEqual(
    job.warnings.map(({ code, start, end }: Warning) => [code, start, end]),
    [
      ['text_cut', 0, Math.round(lengths[0]! * 1000) / 1000],
      ['no_speech', undefined, undefined],
    ],
  );
});
